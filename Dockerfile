# The village with all that it needs, for `docker compose` (compose.yaml) or by itself:
#   docker build --tag keepsake . && docker run --publish 4000:4000 --volume keepsake:/data keepsake
# docs/operate.md explains the settings.

FROM python:3.13-slim-trixie AS build
WORKDIR /app
COPY requirements-uv.lock requirements-image.lock ./
# uv compiles the byte code too: the game's user may not write here, and without byte code a world
# takes three times as long to start.
RUN python -m venv /opt/installer \
    && /opt/installer/bin/pip install --no-cache-dir --require-hashes --requirement requirements-uv.lock \
    && python -m venv --without-pip /opt/keepsake \
    && VIRTUAL_ENV=/opt/keepsake /opt/installer/bin/uv pip install --no-cache --compile-bytecode \
        --require-hashes --requirements requirements-image.lock
COPY . .
# uv leaves a lock that anybody may write; a checkout may have files that nobody else may read.
RUN VIRTUAL_ENV=/opt/keepsake /opt/installer/bin/uv pip install --no-cache --no-deps \
        --no-build-isolation --editable . \
    && chmod --recursive a+rX /app \
    && rm --force /opt/keepsake/.lock \
    && /opt/keepsake/bin/python -m compileall -q keepsake game typeclasses commands world

FROM python:3.13-slim-trixie
# Other packages of Debian; PostgreSQL's backups need postgresql-client.
ARG PACKAGES=""
# tini is the first process: it hands on signals, and ends what a restarted Server leaves behind.
# Debian's stable release fixes the versions. PACKAGES is a list, so it stands without quotes.
# hadolint ignore=DL3008,SC2086
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tini $PACKAGES \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 1000 --create-home --shell /usr/sbin/nologin keepsake \
    && install --directory --owner keepsake --group keepsake --mode 0700 /data
COPY --from=build /opt/keepsake /opt/keepsake
COPY --from=build /app /app
WORKDIR /app
USER 1000
ENV PATH=/opt/keepsake/bin:$PATH \
    KEEPSAKE_HOME=/data/home \
    KEEPSAKE_VAULT=/data/vault \
    KEEPSAKE_LISTEN=0.0.0.0
# One volume has both folders, because `keepsake restore --replace` moves them aside.
VOLUME /data
EXPOSE 4000 4001 4002
STOPSIGNAL SIGTERM
# The first start builds the world, which takes up to two minutes on a slow machine.
HEALTHCHECK --interval=30s --timeout=10s --start-period=2m --retries=3 CMD ["keepsake", "status"]
ENTRYPOINT ["tini", "--"]
CMD ["keepsake", "start", "--foreground"]
