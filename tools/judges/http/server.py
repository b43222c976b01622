"""
Serves ministack, an AWS of others, on the port in GATEWAY_PORT, with what its CloudFormation and Step Functions lack.
Prints a line for each resource that it only pretends to make.
"""
from ministack import app
from ministack.services import apigateway, s3, stepfunctions
from ministack.services.cloudformation import provisioners

handlers = provisioners._RESOURCE_HANDLERS


def pretend(kind, logical, stack):
    print(f"pretends: {kind}", flush=True)
    return f"{stack}-{logical}", {"Arn": f"arn:aws:pretended:{stack}-{logical}"}


def pretended(kind):
    return {
        "create": lambda logical, props, stack: pretend(kind, logical, stack),
        "update": lambda physical, *_: (physical, {}),
        "delete": lambda *_: None,
    }


for kind in (
    "AWS::Backup::BackupSelection",
    "AWS::Budgets::Budget",
    "AWS::CloudWatch::CompositeAlarm",
    "AWS::CodeDeploy::Application",
    "AWS::CodeDeploy::DeploymentGroup",
    "AWS::Logs::QueryDefinition",
):
    if kind not in handlers:
        handlers[kind] = pretended(kind)

alarm = handlers["AWS::CloudWatch::Alarm"]


def create_alarm(logical, props, stack):
    if "Metrics" in props:
        return pretend("AWS::CloudWatch::Alarm of metric math", logical, stack)
    return alarm["create"](logical, props, stack)


def update_alarm(physical, before, after, *rest):
    if "Metrics" in before or "Metrics" in after:
        return physical, {}
    return alarm["update"](physical, before, after, *rest)


handlers["AWS::CloudWatch::Alarm"] = {**alarm, "create": create_alarm, "update": update_alarm}

bucket = handlers["AWS::S3::Bucket"]


def create_bucket(logical, props, stack):
    """With its tags, by which the CDK's function knows that it may empty the bucket."""
    name, attributes = bucket["create"](logical, props, stack)
    s3._bucket_tags[name] = {tag["Key"]: tag["Value"] for tag in props.get("Tags", [])}
    return name, attributes


handlers["AWS::S3::Bucket"] = {**bucket, "create": create_bucket}

in_scope = apigateway._handle_execute_in_scope


class PassedOn(str):
    """OPTIONS that equals no text, so that it is not answered as a preflight but by its route."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return False


def handle_in_scope(api_id, stage, path, method, *rest, **more):
    """AWS passes OPTIONS on to a function if the API has no CORS."""
    if method == "OPTIONS" and not (apigateway._apis.get(api_id) or {}).get("corsConfiguration"):
        method = PassedOn(method)
    return in_scope(api_id, stage, path, method, *rest, **more)


apigateway._handle_execute_in_scope = handle_in_scope


def find_api_scope(api_id):
    """A request has no account of its own, so an API is found in whatever account it is."""
    scopes = (key[:2] for key, _ in apigateway._apis.all_items() if key[2] == api_id)
    return next(scopes, None)


apigateway.find_api_scope = find_api_scope

parse_url = app._parse_execute_api_url


def parse_execute_api_url(host, path):
    """Under the host of an API, the stage $default is not in the path."""
    parsed = parse_url(host, path)
    if parsed and app._EXECUTE_API_RE.match(host):
        return parsed[0], "$default", path
    return parsed


app._parse_execute_api_url = parse_execute_api_url

run_map = stepfunctions._run_distributed_map


def run_distributed_map(state, raw_input, effective, iterator, execution, ctx):
    """Distributed maps there know neither JSONata nor ItemBatcher and ResultWriter."""
    evaluated = lambda value: stepfunctions._apply_jsonata_template(value, raw_input, ctx)
    items = effective
    if "ItemReader" in state:
        reader = {**state["ItemReader"], "Arguments": evaluated(state["ItemReader"]["Arguments"])}
        items = stepfunctions._read_map_items(reader, raw_input, ctx)
    if "ItemBatcher" in state:
        batcher = evaluated(state["ItemBatcher"])
        size = batcher["MaxItemsPerBatch"]
        batches = [items[at : at + size] for at in range(0, len(items), size)]
        items = [{"Items": batch, **({"BatchInput": batcher["BatchInput"]} if "BatchInput" in batcher else {})} for batch in batches]
    added = ("ItemReader", "ItemBatcher", "ResultWriter", "Assign", "Output")
    plain = {field: value for field, value in state.items() if field not in added}
    plain["MaxConcurrency"] = evaluated(state.get("MaxConcurrency", 0))
    result, following = run_map(plain, raw_input, items, iterator, execution, ctx)
    if "ResultWriter" in state:
        result = {}
    stepfunctions._apply_state_assign(state, raw_input, ctx, result=result)
    return stepfunctions._apply_jsonata_output(state, raw_input, ctx, result=result, default=result), following


stepfunctions._run_distributed_map = run_distributed_map
app.main()
