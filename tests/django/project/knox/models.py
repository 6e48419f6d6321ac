"""Tokens of which only a hash is stored."""

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone


class Tokens(models.Manager):
    def create(self, user, expiry=timedelta(hours=10)):
        token = secrets.token_hex(32)
        until = None if expiry is None else timezone.now() + expiry
        return super().create(user=user, digest=digest_of(token), expiry=until), token


def digest_of(token):
    return hashlib.sha512(token.encode()).hexdigest()


class AuthToken(models.Model):
    objects = Tokens()
    digest = models.CharField(max_length=128, primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    expiry = models.DateTimeField(null=True)
