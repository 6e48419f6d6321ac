from django.core.wsgi import get_wsgi_application

import kill_points

application = get_wsgi_application()
kill_points.install()
