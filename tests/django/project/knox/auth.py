from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed

from knox.models import AuthToken, digest_of


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request):
        word, _, token = get_authorization_header(request).decode().partition(" ")
        if word != self.authenticate_header(request):
            return None
        found = AuthToken.objects.filter(digest=digest_of(token)).first()
        if found is None:
            raise AuthenticationFailed("Invalid token.")
        return found.user, found

    def authenticate_header(self, request):
        return "Token"
