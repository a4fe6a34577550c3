# The gate as an image: one process without rights, on a root file system that may be read-only.
#
#   buildah build --build-arg REVISION="$(git rev-parse HEAD)" --tag rollout-gate .
#   docker run --rm --read-only --tmpfs /tmp rollout-gate demo
#
# Credential plugins of a cloud come as programs of yours, in a folder that the build is given:
#
#   mkdir plugins && cp aws gke-gcloud-auth-plugin kubelogin plugins/
#   buildah build --target cloud --build-context plugins=plugins --tag rollout-gate:cloud .
ARG BASE=docker.io/library/python:3.13-slim@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285

# Without a build context of that name there is no plugin.
FROM scratch AS plugins

FROM ${BASE} AS build
WORKDIR /build
COPY requirements.lock requirements-build.lock ./
# The typed models of the Kubernetes client are half of all, and never loaded: they stay source.
RUN python3 -m venv tools \
 && tools/bin/python -m pip install --quiet --no-cache-dir --disable-pip-version-check --no-compile \
      --no-deps --only-binary :all: --require-hashes --requirement requirements-build.lock \
 && python3 -m venv --without-pip /opt/rollout-gate \
 && tools/bin/python -m pip --python /opt/rollout-gate/bin/python install \
      --quiet --no-cache-dir --disable-pip-version-check --no-compile \
      --no-deps --only-binary :all: --require-hashes --requirement requirements.lock \
 && /opt/rollout-gate/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash \
      -x '/kubernetes/(aio|client/(api|models)|e2e_test|test|docs)/' /opt/rollout-gate/lib
COPY pyproject.toml README.md LICENSE ./
COPY gate gate
COPY sandbox sandbox
RUN tools/bin/python -m hatchling build --target wheel \
 && tools/bin/python -m pip --python /opt/rollout-gate/bin/python install \
      --quiet --no-cache-dir --disable-pip-version-check --no-compile --no-deps --no-index dist/*.whl \
 && /opt/rollout-gate/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash \
      /opt/rollout-gate/lib/python3.*/site-packages/gate /opt/rollout-gate/lib/python3.*/site-packages/sandbox

FROM ${BASE} AS gate
ARG BASE
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="rollout-gate" \
      org.opencontainers.image.description="A deploy gate for Kubernetes: follows the rollout, judges it, and returns to what served before" \
      org.opencontainers.image.source="https://github.com/rollout-gate/rollout-gate" \
      org.opencontainers.image.documentation="https://github.com/rollout-gate/rollout-gate#readme" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.base.name="${BASE}"
COPY --from=build /opt/rollout-gate /opt/rollout-gate
# Not every builder makes the folder of a WORKDIR.
RUN mkdir /work
ENV PATH=/opt/rollout-gate/bin:$PATH \
    HOME=/tmp \
    LANG=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1
USER 65532:65532
WORKDIR /work
STOPSIGNAL SIGTERM
ENTRYPOINT ["rollout-gate"]

FROM gate AS cloud
COPY --from=plugins --chown=0:0 --chmod=0755 . /usr/local/bin/

# What is built where no target is named.
FROM gate
