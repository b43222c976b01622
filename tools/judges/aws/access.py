"""moto's access checks, with what they lack: the permissions by their names in IAM, resources of other services than
S3 and IAM, wildcards of one character, and permissions boundaries. What the server calls itself is not checked.
"""

import fnmatch
import json
import re
import threading
import urllib.parse

from moto import settings
from moto.core.authorization import ActionAuthenticatorMixin
from moto.iam import access_control
from moto.iam.models import iam_backends
from moto.sts.models import sts_backends

ACCOUNT = "123456789012"
OWN = ("cloudformation", "operator")
NAMES = {
    "budgets:CreateBudget": "budgets:ModifyBudget",
    "lambda:Invoke": "lambda:InvokeFunction",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:HeadObject": "s3:GetObject",
}
WRITES = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}
PERMITTED = access_control.PermissionResult.PERMITTED
MADE = {
    "AWS::CloudWatch::Dashboard": ("cloudwatch:PutDashboard", "*"),
    "AWS::IAM::Role": ("iam:CreateRole", "arn:aws:iam::{account}:role/{name}"),
    "AWS::Lambda::Function": ("lambda:CreateFunction", "arn:aws:lambda:{region}:{account}:function:{name}"),
    "AWS::Lambda::Permission": ("lambda:AddPermission", "*"),
    "AWS::Route53::RecordSet": ("route53:ChangeResourceRecordSets", "*"),
    "AWS::S3::Bucket": ("s3:CreateBucket", "arn:aws:s3:::{name}"),
    "AWS::SNS::Topic": ("sns:CreateTopic", "*"),
}
acting = threading.local()
sessions = {}


def credentials_of(role):
    """Of an assumed role; those of the server where there is none."""
    if not role:
        return {"aws_access_key_id": OWN[0], "aws_secret_access_key": OWN[0]}
    if role not in sessions:
        sessions[role] = sts_backends[ACCOUNT]["aws"].assume_role("eu-central-1", "judge", role, None, 3600, None)
    made = sessions[role]
    return {"aws_access_key_id": made.access_key_id, "aws_secret_access_key": made.secret_access_key,
            "aws_session_token": made.session_token}


def needed(call, resource):
    """The permissions that a call needs, each with its resource; any resource, where it is not known."""
    service, operation = call._action.replace("monitoring:", "cloudwatch:").split(":")
    arn = f"arn:aws:{service}:{call._region}:{ACCOUNT}:"
    body = json.loads(call._body or "{}") if service in ("dynamodb", "states", "secretsmanager") else {}
    if service == "dynamodb":
        tables = body.get("RequestItems", [body.get("TableName", body.get("ResourceArn"))])
        asked = [(operation, name) for name in tables]
        for item in body.get("TransactItems", ()):
            asked = [*(asked if asked[0][1] else ()), *((WRITES[kind], one["TableName"]) for kind, one in item.items())]
        return [("dynamodb:" + name, table if not table or table.startswith("arn:") else arn + "table/" + table)
                for name, table in asked]
    if service == "lambda" and operation == "Invoke":
        name = urllib.parse.unquote(re.search("functions/([^/]+)/", call._path)[1])
        qualifier = re.search(r"Qualifier=([^&]+)", call._path)
        resource = name if name.startswith("arn:") else arn + "function:" + name
        resource += ":" + urllib.parse.unquote(qualifier[1]) if qualifier else ""
    elif service in ("states", "secretsmanager"):
        resource = next((body[key] for key in ("executionArn", "stateMachineArn", "SecretId") if key in body), None)
    if operation == "DeleteObject" and "/" not in resource:  # of many, which the body names
        resource = None
    action = f"{service}:{operation}"
    return [(NAMES.get(action, action), resource)]


def refused(role_name, policies, action, resource):
    """Whether a role may not do this, which is said: its policies and its boundary both have to allow it."""
    backend = iam_backends[ACCOUNT]["aws"]
    limits = {"policies": policies}
    boundary = backend.get_role(role_name).permissions_boundary_arn
    if boundary:
        limits["boundary"] = [backend.get_policy(boundary)]
    for name, each in limits.items():
        results = [access_control.IAMPolicy(policy).is_action_permitted(action, resource) for policy in each]
        if PERMITTED not in results:
            say(denied=f"{role_name}: {action} on {resource}, by its {name}")
            return True
    return False


def check_action_permitted(self, resource):
    role, policies = self._access_key._owner_role_name, self._access_key.collect_policies()
    if self._action == "sts:GetCallerIdentity":
        return
    if any(refused(role, policies, action, of) for action, of in needed(self, resource)):
        self._raise_access_denied()
    if self._is_assuming_role_operation(resource) and not self._check_role_trust_relationship(resource):
        say(denied=f"{role}: {resource} does not trust it")
        self._raise_access_denied()


def check_made(role, type_name, region, name):
    """What moto's CloudFormation makes without a call, by the permission that a call would need."""
    if role and type_name in MADE and settings.INITIAL_NO_AUTH_ACTION_COUNT == 0:
        made_by = role.split("/")[-1]
        action, resource = MADE[type_name]
        policies, _ = iam_backends[ACCOUNT]["aws"].list_attached_role_policies(made_by)
        if refused(made_by, policies, action, resource.format(region=region, account=ACCOUNT, name=name)):
            raise PermissionError(f"{made_by}: {action}")


def parsed_policy(self, policy):
    """CloudFormation's may be no text, and have a null for a statement that there is not."""
    made_policy(self, json.dumps(policy) if isinstance(policy, dict) and "Statement" in policy else policy)
    self._policy_json["Statement"] = [one for one in listed(self._policy_json["Statement"]) if one]


def match(self, element, value):
    return value in (None, "*") or any(
        fnmatch.fnmatchcase(value, one.replace("[", "[[]")) for one in listed(self._statement[element]))


def listed(value):
    return value if isinstance(value, list) else [value]


def authorize(self, request, resource="*"):
    found = re.search(r"Credential=(\w+)", self.headers.get("Authorization", ""))
    if found and found[1] not in OWN:
        moto(self, request, resource)


made_policy = access_control.IAMPolicy.__init__
moto = ActionAuthenticatorMixin._authenticate_and_authorize_action
ActionAuthenticatorMixin._authenticate_and_authorize_action = authorize
access_control.IAMPolicy.__init__ = parsed_policy
access_control.IAMRequestBase.check_signature = lambda self: None  # nobody here pretends to be another
access_control.IAMRequestBase.check_action_permitted = check_action_permitted
access_control.IAMPolicyStatement._check_element_matches = match
# Who trusts the account trusts each of its roles.
trusted = (f"arn:aws:iam::{ACCOUNT}:root", ACCOUNT)
access_control.IAMPolicyStatement._check_principal = lambda self, principal: any(
    one in (principal, *trusted) for one in listed(self._statement["Principal"].get("AWS")))
