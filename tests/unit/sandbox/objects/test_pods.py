"""What is found wrong in pod templates beside what the golden answers show."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.kinds import BY_KEY, Resource
from sandbox.objects import fill_defaults, prepared_for_create, validate_create
from tests.table import each
from tests.unit.sandbox.objects.cases import NAMESPACE

DEPLOYMENT = BY_KEY["deployments.apps"]
STATEFUL_SET = BY_KEY["statefulsets.apps"]
JOB = BY_KEY["jobs.batch"]
CRON_JOB = BY_KEY["cronjobs.batch"]

WEB = "spec.template.spec.containers[0]"
POD = "spec.template.spec"
GRACE = "terminationGracePeriodSeconds"


def wrong_fields(resource: Resource, spec: JSON) -> list[tuple[str, str]]:
    """Return each wrong field of an object with this spec, and what the server says of it."""
    metadata = {"name": "web", "namespace": NAMESPACE, "uid": "1"}
    body = prepared_for_create(resource, fill_defaults(resource, {"spec": spec}))
    body["metadata"] |= metadata
    return [(error.field, error.message) for error in validate_create(resource, body)]


def workload(pod_spec: JSON, **spec: object) -> JSON:
    """Return the spec of a workload that runs these pods."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod_spec}
    return {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}


def pod(container: JSON, **spec: object) -> JSON:
    """Return a pod spec with one container."""
    return {"containers": [{"name": "web", "image": "shop/web:1", **container}], **spec}


def variable(**source: JSON) -> JSON:
    """Return the fields of a container with a variable from this source."""
    return {"env": [{"name": "A", "valueFrom": source}]}


def mount(**fields: str) -> JSON:
    """Return the fields of a container with one mount."""
    return {"volumeMounts": [{"name": "a", "mountPath": "/a", **fields}]}


A_VOLUME = {"name": "a", "emptyDir": {}}


@each(
    ("pod_spec", "field", "words"),
    [
        (pod({"image": ""}), f"{WEB}.image", "Required value"),
        (
            pod({"imagePullPolicy": "Sometimes"}),
            f"{WEB}.imagePullPolicy",
            'Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
        ),
        (
            pod({"ports": [{"containerPort": 99999}]}),
            f"{WEB}.ports[0].containerPort",
            "Invalid value: 99999: must be between 1 and 65535, inclusive",
        ),
        (pod(mount()), f"{WEB}.volumeMounts[0].name", 'Not found: "a"'),
        (
            pod(mount(subPath="/etc"), volumes=[A_VOLUME]),
            f"{WEB}.volumeMounts.subPath",
            'Invalid value: "/etc": must be a relative path',
        ),
        (
            pod({}, volumes=[A_VOLUME, {"name": "a", "configMap": {"name": "b"}}]),
            f"{POD}.volumes[1].name",
            'Duplicate value: "a"',
        ),
        (
            pod({}, volumes=[{"name": "a", "configMap": {"name": "b"}, "emptyDir": {}}]),
            f"{POD}.volumes[0].configMap",
            "Forbidden: may not specify more than 1 volume type",
        ),
        (
            pod({"env": [{"name": "A", "value": "1", "valueFrom": {"fieldRef": {}}}]}),
            f"{WEB}.env[0].valueFrom.fieldRef.fieldPath",
            "Required value",
        ),
        (
            pod(variable(fieldRef={"fieldPath": "metadata.name['a']"})),
            f"{WEB}.env[0].valueFrom.fieldRef",
            'Invalid value: "metadata.name": does not support subscript',
        ),
        (
            pod(variable(secretKeyRef={"name": "a", "key": ".."})),
            f"{WEB}.env[0].valueFrom.secretKeyRef.key",
            "Invalid value: \"..\": must not be '..'",
        ),
        (
            pod({"livenessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": -1}}),
            f"{WEB}.livenessProbe.periodSeconds",
            "Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            pod({"lifecycle": {"preStop": {"sleep": {"seconds": 31}}}}),
            f"{WEB}.lifecycle.preStop.sleep",
            f"Invalid value: 31: must be non-negative and less than {GRACE} (30)",
        ),
        (
            pod({"resources": {"requests": {"memory": "1Gi"}, "limits": {"memory": "512Mi"}}}),
            f"{WEB}.resources.requests",
            'Invalid value: "1Gi": must be less than or equal to memory limit of 512Mi',
        ),
        (
            pod({"resources": {"limits": {"storage": "1Gi"}}}),
            f"{WEB}.resources.limits[storage]",
            'Invalid value: "storage": must be a standard resource for containers',
        ),
        (
            pod({}, initContainers=[{"name": "init", "image": "a:1", "restartPolicy": "Once"}]),
            f"{POD}.initContainers[0].restartPolicy",
            'Unsupported value: "Once": supported values: "Always", "Never", "OnFailure"',
        ),
    ],
)
def test_a_mistake_is_told_as_by_the_server(pod_spec: JSON, field: str, words: str) -> None:
    """The field and the words, in a Deployment."""
    assert (field, words) in wrong_fields(DEPLOYMENT, workload(pod_spec))


@each(
    "pod_spec",
    [
        pod(mount(subPath="b"), volumes=[A_VOLUME]),
        pod(mount(), volumes=[{"name": "a"}]),
        pod(variable(fieldRef={"fieldPath": "metadata.labels['app']"})),
        pod(variable(resourceFieldRef={"resource": "limits.hugepages-2Mi"})),
        pod({"resources": {"requests": {"cpu": "0.5"}, "limits": {"cpu": "500m"}}}),
        pod({"resources": {"limits": {"example.com/gpu": "2", "hugepages-2Mi": "4Mi"}}}),
        pod({"readinessProbe": {"httpGet": {"port": "http"}, "successThreshold": 2}}),
        pod({"lifecycle": {"preStop": {"sleep": {"seconds": 30}}}}),
        pod({"ports": [{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "b"}]}),
    ],
)
def test_what_a_server_takes_is_taken(pod_spec: JSON) -> None:
    """Nothing is found wrong in a good pod template."""
    assert not wrong_fields(DEPLOYMENT, workload(pod_spec))


def test_a_claim_of_a_stateful_set_may_be_mounted() -> None:
    """Its pods have a volume for each claim, and for no other name."""
    claim = {"metadata": {"name": "a"}, "spec": {}}
    assert not wrong_fields(STATEFUL_SET, workload(pod(mount()), volumeClaimTemplates=[claim]))
    claim["metadata"] = {"name": "b"}
    found = wrong_fields(STATEFUL_SET, workload(pod(mount()), volumeClaimTemplates=[claim]))
    assert found == [(f"{WEB}.volumeMounts[0].name", 'Not found: "a"')]


def test_pods_of_a_job_are_not_always_restarted() -> None:
    """A Job says which other policy its pods have; a CronJob's Jobs as well."""
    said = 'Required value: valid values: "OnFailure", "Never"'
    job = {"template": {"spec": pod({})}}
    assert wrong_fields(JOB, job) == [(f"{POD}.restartPolicy", said)]
    job_field = f"spec.jobTemplate.{POD}.restartPolicy"
    cron_job = {"schedule": "@daily", "jobTemplate": {"spec": job}}
    assert wrong_fields(CRON_JOB, cron_job) == [(job_field, said)]
    job["template"]["spec"]["restartPolicy"] = "Never"
    assert not wrong_fields(JOB, job)
