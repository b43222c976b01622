"""moto's server, with what its CloudFormation lacks and the services behind it have.

A resource of a type in TYPES is made by a call of the service's API over HTTP, as CloudFormation makes it, with its
properties in the shapes that botocore describes. Each line on stdout is JSON: the port, a type that is not known here
either, a property that the API does not have, or an error.
"""

import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import traceback
import uuid
import zipfile

import access
import boto3
import jsonata
from botocore.config import Config
from moto.awslambda import models as awslambda
from moto.awslambda import responses as lambda_responses
from moto.awslambda import urls as lambda_urls
from moto.cloudformation import models, parsing, responses
from moto.cloudformation import utils as parsing_utils
from moto.cloudformation.exceptions import ValidationError
from moto.iam import models as iam
from moto.route53 import models as route53
from moto.core import config
from moto.core.common_models import CloudFormationModel
from moto.core.responses import ActionResult
from moto.dynamodb.parsing import expressions
from moto.server import ThreadedMotoServer
from moto.stepfunctions.parser import models as sfn
from moto.stepfunctions.parser.asl.jsonata import jsonata as interpreter

said, lock = set(), threading.Lock()


def say(**line):
    """Prints a line, once."""
    text = json.dumps(line, default=str)
    with lock:
        if text not in said or "answer" in line or "refused" in line:
            said.add(text)
            print(text, flush=True)


server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
endpoint = "http://127.0.0.1:%d" % server.get_host_and_port()[1]


def client(service, region, role=None):
    return boto3.client(service, region_name=region, endpoint_url=endpoint, config=Config(read_timeout=900),
                        **access.credentials_of(role))


def shaped(value, shape, path):
    """A value of a template as the API takes it: its members by their names there, numbers as numbers."""
    kind = shape.type_name
    if kind == "structure":
        members = {name.lower(): name for name in shape.members}
        made = {}
        for name, inner in value.items():
            names = (name.lower(), "tag" + name.lower(), name.lower().removeprefix("sse"))  # Key is TagKey for some
            member = next((members[one] for one in names if one in members), None)
            if member is None:
                say(unknownProperty=f"{path}.{name}")
            else:
                made[member] = shaped(inner, shape.members[member], f"{path}.{name}")
        return made
    if kind == "list":
        value = [value] if isinstance(value, str) else value
        return [shaped(inner, shape.member, path) for inner in value]
    if kind == "map":
        # Tags are a list in some templates and a map in the API.
        if isinstance(value, list):
            value = {tag["Key"]: tag["Value"] for tag in value}
        return {name: shaped(inner, shape.value, f"{path}.{name}") for name, inner in value.items()}
    if kind == "string":
        return json.dumps(value) if isinstance(value, dict) else str(value)
    if kind in ("integer", "long"):
        return int(value)
    if kind in ("float", "double"):
        return float(value)
    return str(value).lower() == "true" if kind == "boolean" else value


class Made:
    """A resource that calls of an API made."""

    def __init__(self, ref, values, remove):
        self.physical_resource_id, self.values, self.remove = ref, values, remove

    def get_cfn_attribute(self, name):
        return self.values[name]

    def is_created(self):
        return True

    def delete(self, account_id, region_name):
        self.remove(region_name, self.values)


TYPES = []


def api(type_name, service, create, ref, update=None, delete=None, name="", ids=(), attributes=None, prepare=None):
    """A type whose resources are made, changed and deleted by calls of an API, each with what it takes of the properties."""
    ids = (*ids, *([name] if name else []))

    def call(operations, region, values, identity=()):
        of = client(service, region, getattr(access.acting, "role", None))
        shapes = {operation: of.meta.service_model.operation_model(of.meta.method_to_api_mapping[operation]).input_shape
                  for operation in operations}
        taken = {member.lower() for shape in shapes.values() for member in shape.members}
        answers = {}
        values = {key: inner for key, inner in values.items() if inner is not None}
        for key in values:  # an update leaves out what only a creation takes
            if key.lower() not in taken and not identity:
                say(unknownProperty=f"{type_name}.{key}")
        for operation, shape in shapes.items():
            has = {member.lower() for member in shape.members}
            mine = {key: inner for key, inner in values.items() if key.lower() in has}
            if answers and not mine.keys() - set(ids):
                continue
            answer = getattr(of, operation)(**shaped(mine, shape, type_name))
            answers.update(answer, ResponseMetadata=None)
            for inner in answer.values():
                answers.update(inner if isinstance(inner, dict) else {})
        return answers

    def remove(region, values):
        if delete:
            call([delete], region, {key: values[key] for key in ids}, ids)

    class Type(CloudFormationModel):
        __module__ = "moto.cloudformation.types"  # moto looks for the service in it
        cloudformation_type = staticmethod(lambda: type_name)
        cloudformation_name_type = staticmethod(lambda: name)
        has_cfn_attr = classmethod(lambda cls, attribute: True)

        @classmethod
        def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **_):
            values = {**({name: resource_name} if name else {}), **cloudformation_json["Properties"]}
            values = prepare(values, region_name) if prepare else values
            made = {"account": account_id, "region": region_name, **values, **call(create, region_name, values)}
            made.update({key: text.format(**made) for key, text in (attributes or {}).items()})
            return Made(ref.format(**made), made, remove)

        @classmethod
        def update_from_cloudformation_json(cls, original_resource, new_resource_name, cloudformation_json, account_id,
                                            region_name):
            old = original_resource.values
            values = dict(cloudformation_json["Properties"])
            values = prepare(values, region_name) if prepare else values
            values.update({key: old[key] for key in ids})
            call(create if update is None else update, region_name, values, ids)
            return Made(original_resource.physical_resource_id, {**old, **values}, remove)

    TYPES.append(Type)


def secret(values, region):
    generate = values.pop("GenerateSecretString", None)
    if generate is None:
        return values
    generate = dict(generate)
    template, key = generate.pop("SecretStringTemplate", None), generate.pop("GenerateStringKey", None)
    made = client("secretsmanager", region).get_random_password(**generate)["RandomPassword"]
    return {**values, "SecretString": json.dumps({**json.loads(template), key: made}) if template else made}


def backup_plan(values, region):
    plan = dict(values["BackupPlan"])
    rules = [{("TargetBackupVaultName" if name == "TargetBackupVault" else name): inner for name, inner in rule.items()}
             for rule in plan.pop("BackupPlanRule")]
    return {**values, "BackupPlan": {**plan, "Rules": rules}}


def without_mfa(values, region):
    """The API takes what EnabledMfas says in another call, which has nothing to do with deployments."""
    return {name: inner for name, inner in values.items() if name not in ("EnabledMfas", "UserPoolName")}


def bucket_policy(values, region):
    """Without statements that have a condition: moto denies what they deny whether it holds or not."""
    statements = [one for one in values["PolicyDocument"]["Statement"] if "Condition" not in one]
    if not statements:  # nobody is denied anything
        statements = [{"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "*"}]
    return {"Bucket": values["Bucket"], "Policy": {**values["PolicyDocument"], "Statement": statements}}


def state_machine(values, region):
    """moto's interpreter knows no ItemBatcher, so each batch has one item, and no ResultWriter with JSONata."""
    definition = json.loads(values["DefinitionString"])
    for state in definition["States"].values():
        state.pop("ResultWriter", None)
        batcher = state.pop("ItemBatcher", None)
        if batcher:
            say(unknownType="ItemBatcher and ResultWriter of a Map state")
            state["ItemSelector"] = {"BatchInput": batcher["BatchInput"],
                                     "Items": ["{% $states.context.Map.Item.Value %}"]}
    return {**values, "definition": json.dumps(definition, separators=(",", ":")), "DefinitionString": None}


def topic_policy(values, region):
    return {"TopicArn": values["Topics"][0], "AttributeName": "Policy", "AttributeValue": values["PolicyDocument"]}


V2 = "AWS::ApiGatewayV2::"
api(V2 + "Api", "apigatewayv2", ["create_api"], "{ApiId}", ["update_api"], "delete_api", ids=["ApiId"])
for part in ("Integration", "Route"):
    verb, identity = "_" + part.lower(), part + "Id"
    api(V2 + part, "apigatewayv2", ["create" + verb], "{%s}" % identity, ["update" + verb], "delete" + verb,
        ids=["ApiId", identity])
api(V2 + "Stage", "apigatewayv2", ["create_stage"], "{StageName}", delete="delete_stage",
    ids=["ApiId", "StageName"])
api(V2 + "DomainName", "apigatewayv2", ["create_domain_name"], "{DomainName}", delete="delete_domain_name",
    ids=["DomainName"], attributes={"RegionalDomainName": "d-1.execute-api.{region}.amazonaws.com",
                                    "RegionalHostedZoneId": "Z1U9ULNL0V5AJ3"})
api(V2 + "ApiMapping", "apigatewayv2", ["create_api_mapping"], "{ApiMappingId}", delete="delete_api_mapping",
    ids=["ApiMappingId", "DomainName"])
api("AWS::Backup::BackupVault", "backup", ["create_backup_vault"], "{BackupVaultName}", [],
    delete="delete_backup_vault", name="BackupVaultName")
api("AWS::Backup::BackupPlan", "backup", ["create_backup_plan"], "{BackupPlanId}", [], delete="delete_backup_plan",
    ids=["BackupPlanId"], prepare=backup_plan)
api("AWS::Budgets::Budget", "budgets", ["create_budget"], "budget", prepare=lambda values, region: {
    **values, "AccountId": "123456789012", "Budget": {"BudgetName": "budget", **values["Budget"]}})
api("AWS::CloudWatch::Alarm", "cloudwatch", ["put_metric_alarm"], "{AlarmName}", name="AlarmName",
    delete="delete_alarms", ids=["AlarmNames"],
    attributes={"AlarmNames": "{AlarmName}", "Arn": "arn:aws:cloudwatch:{region}:{account}:alarm:{AlarmName}"})
api("AWS::CodeDeploy::Application", "codedeploy", ["create_application"], "{ApplicationName}", name="ApplicationName")
api("AWS::CodeDeploy::DeploymentGroup", "codedeploy", ["create_deployment_group"], "{DeploymentGroupName}",
    ["get_deployment_group"], name="DeploymentGroupName", ids=["ApplicationName"])  # moto can't change one
pool = "cognito-idp.{region}.amazonaws.com/{Id}"
api("AWS::Cognito::UserPool", "cognito-idp", ["create_user_pool"], "{Id}", name="PoolName", prepare=without_mfa,
    attributes={"UserPoolId": "{Id}", "ProviderName": pool, "ProviderURL": "https://" + pool})
api("AWS::Cognito::UserPoolClient", "cognito-idp", ["create_user_pool_client"], "{ClientId}",
    ["update_user_pool_client"], "delete_user_pool_client", name="ClientName", ids=["UserPoolId", "ClientId"])
api("AWS::Cognito::UserPoolDomain", "cognito-idp", ["create_user_pool_domain"], "{Domain}",
    delete="delete_user_pool_domain", ids=["UserPoolId", "Domain"])
api("AWS::KMS::Key", "kms", ["create_key"], "{KeyId}", delete="schedule_key_deletion", ids=["KeyId"],
    prepare=lambda values, region: {**values, "Policy": values["KeyPolicy"], "KeyPolicy": None})
tables = ["update_continuous_backups", "update_time_to_live"]
api("AWS::DynamoDB::Table", "dynamodb", ["create_table", *tables], "{TableName}", ["update_table", *tables],
    "delete_table", name="TableName", attributes={"Arn": "{TableArn}"})
api("AWS::Lambda::Alias", "lambda", ["create_alias"], "{AliasArn}", ["update_alias"], "delete_alias",
    ids=["FunctionName", "Name"])
api("AWS::Lambda::Version", "lambda", ["publish_version"], "{FunctionArn}")
api("AWS::Logs::LogGroup", "logs", ["create_log_group", "put_retention_policy"], "{LogGroupName}",
    ["put_retention_policy"], "delete_log_group", name="LogGroupName",
    attributes={"Arn": "arn:aws:logs:{region}:{account}:log-group:{LogGroupName}:*"})
api("AWS::Logs::MetricFilter", "logs", ["put_metric_filter"], "{FilterName}", name="FilterName")
api("AWS::S3::BucketPolicy", "s3", ["put_bucket_policy"], "{Bucket}", delete="delete_bucket_policy", ids=["Bucket"],
    prepare=bucket_policy)
api("AWS::SNS::Subscription", "sns", ["subscribe"], "{SubscriptionArn}", delete="unsubscribe", ids=["SubscriptionArn"])
api("AWS::SNS::TopicPolicy", "sns", ["set_topic_attributes"], "{TopicArn}", prepare=topic_policy)
api("AWS::Scheduler::Schedule", "scheduler", ["create_schedule"], "{Name}", ["update_schedule"], "delete_schedule",
    name="Name")
api("AWS::StepFunctions::StateMachine", "stepfunctions", ["create_state_machine"], "{stateMachineArn}",
    ["update_state_machine"], "delete_state_machine", name="name", ids=["stateMachineArn"],
    prepare=state_machine, attributes={"Arn": "{stateMachineArn}", "Name": "{name}"})
api("AWS::SecretsManager::Secret", "secretsmanager", ["create_secret"], "{ARN}", delete="delete_secret", name="Name",
    ids=["SecretId"], attributes={"SecretId": "{ARN}"}, prepare=secret)

# ---- Lambda and Step Functions ----

RUNNER = """
const [file, name, id] = process.argv.slice(1);
const text = await new Response(process.stdin).text();
const end = Date.now() + 900_000;
const context = { awsRequestId: id, functionName: id, invokedFunctionArn: id, getRemainingTimeInMillis: () => end - Date.now() };
const { [name]: handler } = await import(file);
let answer;
try {
  answer = { value: (await handler(JSON.parse(text), context)) ?? null };
} catch (error) {
  answer = { value: { errorType: error.name, errorMessage: error.message, trace: [] }, failed: true };
}
process.stdout.write('\\n' + JSON.stringify(answer), () => process.exit());
"""
folders = {}


def invoke(self, event=None):
    """Runs the deployed bundle on Node, as Lambda does; moto has Docker for that."""
    folder = folders.get(self.code_sha_256)
    if folder is None:
        folder = folders[self.code_sha_256] = tempfile.mkdtemp(prefix="code-", dir=work.name)
        zipfile.ZipFile(io.BytesIO(self.code_bytes)).extractall(folder)
    module, name = self.handler.split(".")
    file = next(str(one) for one in pathlib.Path(folder).glob(module + ".*js"))
    env = {**os.environ, **self.environment_vars, "AWS_ENDPOINT_URL": endpoint, "AWS_REGION": self.region,
           **{name.upper(): value for name, value in access.credentials_of(self.role).items()}}
    done = subprocess.run(["node", "--input-type=module", "-e", RUNNER, file, name, self.function_name], env=env,
                          input=json.dumps(event or {}), capture_output=True, text=True)
    logs, _, last = done.stdout.rpartition("\n")
    if not last:
        return json.dumps({"errorType": "Runtime.ExitError", "errorMessage": done.stderr[-2000:]}), True, logs
    answer = json.loads(last)
    return json.dumps(answer["value"]), "failed" in answer, logs


def account_settings(self):
    return json.dumps({"AccountLimit": {"ConcurrentExecutions": 1000, "UnreservedConcurrentExecutions": 1000},
                       "AccountUsage": {"FunctionCount": 1}})


awslambda.LambdaFunction._invoke_lambda = invoke

# The value of `if_not_exists` may be a function too, as in DynamoDB Local and in the grammar of AWS.
expressions.UpdateExpressionFunctionParser.FUNCTIONS["if_not_exists"][1] = expressions.UpdateExpressionOperandParser
lambda_responses.LambdaResponse.get_account_settings = account_settings
lambda_urls.url_paths["{0}/(?P<api_version>[^/]+)/account-settings/?$"] = lambda_responses.LambdaResponse.dispatch
work = tempfile.TemporaryDirectory(prefix="judge-functions-")
config.default_user_config["stepfunctions"]["execute_state_machine"] = True
config.default_user_config["iam"]["load_aws_managed_policies"] = True
os.environ["MOTO_PORT"] = endpoint.rsplit(":", 1)[1]  # by which the interpreter finds the other services


def evaluate(expression):
    try:
        return jsonata.Jsonata(expression).evaluate(None)
    except Exception as error:
        raise interpreter.JSONataException("UNKNOWN", str(error)) from error


def declarations(bindings):
    """moto's don't escape what is in a string."""
    return "".join(f"{name}:={interpreter.to_json_str(value)};" for name, value in bindings.items())


start_execution = sfn.StepFunctionsParserBackend.start_execution
sfn.StepFunctionsParserBackend.start_execution = lambda self, arn, name=None, *args: start_execution(
    self, arn, name or str(uuid.uuid4()), *args)  # moto calls the second without a name "None", as the first
interpreter._eval_jsonata = evaluate  # moto leaves it out: it is a Java library in LocalStack
for module in list(sys.modules.values()):
    if hasattr(module, "boto_client_for"):
        module.boto_client_for = lambda region, service, state_credentials=None: client(
            service, region, state_credentials and state_credentials.role_arn)
    if hasattr(module, "encode_jsonata_variable_declarations"):
        module.encode_jsonata_variable_declarations = declarations

# ---- CloudFormation ----

clean = parsing.clean_json
REFERENCE = re.compile(r"\{\{resolve:secretsmanager:(arn:[^}]*?):SecretString:([^:}]*):[^}]*\}\}")


def clean_with_references(value, resources):
    if isinstance(value, dict) and "Fn::GetStackOutput" in value:
        asked = value["Fn::GetStackOutput"]
        found = client("cloudformation", asked["Region"]).describe_stacks(StackName=asked["StackName"])
        return {o["OutputKey"]: o["OutputValue"] for o in found["Stacks"][0]["Outputs"]}[asked["OutputName"]]
    made = clean(value, resources)
    if not isinstance(made, str) or "{{resolve:" not in made:
        return made

    def resolve(match):
        arn, key = match.groups()
        text = client("secretsmanager", arn.split(":")[3]).get_secret_value(SecretId=arn)["SecretString"]
        return json.loads(text)[key] if key else text

    return REFERENCE.sub(resolve, made)


parsing.clean_json = clean_with_references

known, created, updated = (
    parsing.resource_class_from_type, parsing.parse_and_create_resource, parsing.parse_and_update_resource)


def class_from_type(type_name):
    if type_name.startswith("Custom::"):  # moto would run the CDK's function, which empties a bucket, in Docker
        return None
    found = known(type_name)
    if found is None:
        say(unknownType=type_name)
    return found


def update_or_keep(logical_id, resource_json, resources_map, account_id, region_name):
    """moto forgets a resource whose type it can't update."""
    changed = updated(logical_id, resource_json, resources_map, account_id, region_name)
    if changed is None and resources_map[logical_id] is not None:
        say(notUpdated=resource_json["Type"])
    return changed or resources_map[logical_id]


def create_as_role(logical_id, resource_json, resources_map, account_id, region_name):
    made = created(logical_id, resource_json, resources_map, account_id, region_name)
    if made is not None:
        name = getattr(made, "physical_resource_id", logical_id)
        access.check_made(getattr(access.acting, "role", None), resource_json["Type"], region_name, name)
    return made


parsing.resource_class_from_type, parsing.parse_and_create_resource, parsing.parse_and_update_resource = (
    class_from_type, create_as_role, update_or_keep)

put_policy = iam.Role.put_policy
iam.Role.put_policy = lambda self, name, document: put_policy(  # moto does not write those in a role's own properties
    self, name, document if isinstance(document, str) else json.dumps(document))

create_role = iam.Role.create_from_cloudformation_json


def with_managed_policies(*args, **kwargs):
    """moto leaves them out."""
    role = create_role(*args, **kwargs)
    for arn in args[1]["Properties"].get("ManagedPolicyArns", ()):
        iam.iam_backends[args[2]]["aws"].attach_role_policy(arn, role.name)
    return role


def delete_role(self, account_id, region_name):
    self.managed_policies.clear()
    self.policies.clear()
    iam.iam_backends[account_id]["aws"].delete_role(self.name)


iam.Role.create_from_cloudformation_json, iam.Role.delete = with_managed_policies, delete_role

route53.create_route53_zone_id = lambda **_: "Z0123456789ABC"  # moto's are longer than Route 53's

# The outputs of a stack that a change set made, a template's address on this host, and what a deletion retains.
models.ChangeSet.apply = lambda self: models.Stack.update(self.stack, self.template, parameters=self.parameters)
body_of = parsing_utils.get_stack_from_s3_url
responses.get_stack_from_s3_url = lambda template_url, *args, **kwargs: body_of(
    template_url.replace("//127.0.0.1", "//localhost"), *args, **kwargs)
previous = models.CloudFormationBackend._resolve_update_parameters
models.CloudFormationBackend._resolve_update_parameters = lambda self, instance, incoming_params: previous(
    self, instance, [one for one in incoming_params if "ParameterValue" in one or one["ParameterKey"] in instance.parameters])


def delete_in_order(self):
    """What was made last first, and nothing that is retained; moto's order is any."""
    for logical_id, resource in reversed(list(self._parsed_resources.items())):
        of = self._resource_json_map.get(logical_id)
        if of and resource is not None and of.get("DeletionPolicy", "Delete") == "Delete":
            self._delete_resource(resource, of)


parsing.ResourceMap.delete = delete_in_order


def update_termination_protection(self):
    stack = self.cloudformation_backend.get_stack(self._get_param("StackName"))
    stack.enable_termination_protection = self._get_bool_param("EnableTerminationProtection")
    return ActionResult({"StackId": stack.stack_id})


def delete_unless_protected(self, name_or_stack_id):
    for stack in self.stacks.values():
        if name_or_stack_id not in (stack.name, stack.stack_id):
            continue
        if stack.enable_termination_protection:
            raise ValidationError(stack.name, message=f"Stack [{stack.name}] has TerminationProtection")
        for export in stack.exports:  # moto lacks those of a stack that a change set made
            self.exports.setdefault(export.name, export)
    delete_stack(self, name_or_stack_id)


responses.CloudFormationResponse.update_termination_protection = update_termination_protection
delete_stack = models.CloudFormationBackend.delete_stack
models.CloudFormationBackend.delete_stack = delete_unless_protected


def rolled_back(change, done, failed):
    """A change of a stack that, where it fails, leaves the status and the events of CloudFormation, not a response 500."""

    def attempt(self, *args, **kwargs):
        before = self.template if done == "UPDATE" else None
        access.acting.role = self.role_arn
        try:
            change(self, *args, **kwargs)
        except Exception as error:
            say(failed=self.name, reason=repr(error), at=traceback.format_exc())
            self._add_stack_event(f"{done}_FAILED", resource_status_reason=str(error))
            if before is not None:
                change(self, before, self.role_arn)
            self.status = failed
            self._add_stack_event(failed)

    return attempt


models.Stack.create_resources = rolled_back(models.Stack.create_resources, "CREATE", "ROLLBACK_COMPLETE")
models.Stack.update = rolled_back(models.Stack.update, "UPDATE", "UPDATE_ROLLBACK_COMPLETE")
models.Stack.delete = rolled_back(models.Stack.delete, "DELETE", "DELETE_FAILED")

access.say = say
say(endpoint=endpoint)
for line in sys.stdin:
    asked = json.loads(line)
    try:
        of, operation, parameters = client(asked["service"], asked["region"]), asked["operation"], asked["parameters"]
        if operation in of.meta.method_to_api_mapping and of.can_paginate(operation):
            say(answer=of.get_paginator(operation).paginate(**parameters).build_full_result())
        else:
            answer = getattr(of, operation)(**parameters)
            say(answer={key: part.read().decode() if hasattr(part, "read") else part
                        for key, part in (answer or {}).items()})
    except Exception as error:
        say(refused=repr(error))
