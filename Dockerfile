# The image of the operator: Python, the installed package, nothing else; no shell, no package manager.
# docker build -t trainway/operator:VERSION .
# Those of the initializers, which also have what buckets need, and run as root, since a new volume is root's:
# docker build --target dataset-initializer -t trainway/dataset-initializer:VERSION . and the same with model-initializer.
ARG BUILD_IMAGE=docker.io/library/debian:bookworm-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/python3-debian12:nonroot

# They change seldom, and each is checked against its hash.
FROM ${BUILD_IMAGE} AS dependencies
RUN ["apt-get", "update"]
RUN ["apt-get", "install", "--yes", "--no-install-recommends", "python3-pip", "python3-venv"]
# The Python of the runtime image is at the same place, so the environment can move there.
RUN ["python3", "-m", "venv", "--without-pip", "/opt/trainway"]
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY requirements/operator.txt /src/requirements/operator.txt
RUN ["python3", "-m", "pip", "--python", "/opt/trainway/bin/python", "install", \
     "--require-hashes", "-r", "/src/requirements/operator.txt"]

FROM dependencies AS build
COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
RUN ["python3", "-m", "pip", "--python", "/opt/trainway/bin/python", "install", "--no-deps", "/src"]

FROM dependencies AS initializer-dependencies
COPY requirements/initializer.txt /src/requirements/initializer.txt
RUN ["python3", "-m", "pip", "--python", "/opt/trainway/bin/python", "install", \
     "--require-hashes", "-r", "/src/requirements/initializer.txt"]

FROM initializer-dependencies AS initializer-build
COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
RUN ["python3", "-m", "pip", "--python", "/opt/trainway/bin/python", "install", "--no-deps", "/src"]

FROM ${RUNTIME_IMAGE} AS initializer
COPY --from=initializer-build /opt/trainway /opt/trainway
ENV PATH=/opt/trainway/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /workspace
USER 0:0

FROM initializer AS dataset-initializer
ENTRYPOINT ["/opt/trainway/bin/python", "-P", "-m", "trainway.data.initializer", "dataset"]

FROM initializer AS model-initializer
ENTRYPOINT ["/opt/trainway/bin/python", "-P", "-m", "trainway.data.initializer", "model"]

FROM ${RUNTIME_IMAGE} AS operator
COPY --from=build /opt/trainway /opt/trainway
ENV PATH=/opt/trainway/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /
USER 65532:65532
ENTRYPOINT ["trainway"]
CMD ["operator", "run"]
