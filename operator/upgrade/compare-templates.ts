import { fullDiff, type ResourceDifference } from '@aws-cdk/cloudformation-diff';

/** What this reads of a CloudFormation template. */
export type ComparedTemplate = {
  Resources?: Record<string, { Type: string; Properties?: Record<string, unknown> }>;
  Outputs?: Record<string, unknown>;
};

/**
 * What an update must keep, since with another resource data, a host name or a URL that callers know would be lost. The
 * properties are those for which CloudFormation makes another one, or another value, although its specification doesn't
 * say so; it knows all others.
 */
const mustStay: Readonly<Record<string, readonly string[]>> = {
  'AWS::ApiGatewayV2::Api': [],
  'AWS::ApiGatewayV2::DomainName': [],
  'AWS::Backup::BackupVault': [],
  'AWS::Cognito::UserPool': ['AliasAttributes', 'UsernameAttributes', 'UsernameConfiguration'],
  'AWS::Cognito::UserPoolDomain': [],
  'AWS::DynamoDB::Table': ['AttributeDefinitions', 'LocalSecondaryIndexes'],
  'AWS::KMS::Key': ['KeySpec', 'KeyUsage', 'MultiRegion'],
  'AWS::Logs::LogGroup': [],
  'AWS::S3::Bucket': [],
  'AWS::SecretsManager::Secret': ['GenerateSecretString'],
  'AWS::SNS::Topic': [],
  'AWS::StepFunctions::StateMachine': [],
};

/** Whether an update must keep a resource of this type. */
export function isStateful(type: string): boolean {
  return type in mustStay;
}

/** Something that an update would replace or remove although it has to stay. */
export type Loss = { logicalId: string; type: string; what: string };

/** What an update of a stack changes. */
export type TemplateChanges = {
  added: number;
  changed: number;
  removed: number;
  /** Resources and outputs that must not be lost. */
  losses: readonly Loss[];
};

/**
 * Compares two templates of a stack. The code of functions is left out, as are their versions: each release has new
 * ones, and old versions are retained.
 */
export function compareTemplates(before: ComparedTemplate, after: ComparedTemplate): TemplateChanges {
  const { resources, outputs } = fullDiff(withoutCode(before), withoutCode(after));
  const changes = Object.entries(resources.changes);
  return {
    added: changes.filter(([, { isAddition }]) => isAddition).length,
    removed: changes.filter(([, { isRemoval }]) => isRemoval).length,
    changed: changes.filter(([, { isUpdate }]) => isUpdate).length,
    losses: [
      ...changes.flatMap(([logicalId, change]) => {
        const type = change.oldResourceType ?? '';
        return isStateful(type) ? lossesIn(change).map((what) => ({ logicalId, type, what })) : [];
      }),
      ...Object.entries(outputs.changes)
        .filter(([, { isRemoval }]) => isRemoval)
        .map(([logicalId]) => ({ logicalId, type: 'output', what: 'is no longer there' })),
    ],
  };
}

/** What is lost by a change of a resource that must stay. */
function lossesIn(change: ResourceDifference): string[] {
  const { isRemoval, oldResourceType = '', newResourceType, propertyUpdates } = change;
  if (isRemoval) return ['is no longer in the template'];
  if (oldResourceType !== newResourceType) return [`becomes ${newResourceType}`];
  return Object.entries(propertyUpdates)
    .filter(
      ([name, { changeImpact = '' }]) => changeImpact.endsWith('_REPLACE') || mustStay[oldResourceType]?.includes(name),
    )
    .map(([name]) => {
      const effect = name === 'GenerateSecretString' ? 'generates a new value' : 'replaces it';
      return `has another ${name}, for which CloudFormation ${effect}`;
    });
}

function withoutCode({ Resources = {}, Outputs = {} }: ComparedTemplate): ComparedTemplate {
  const resources = Object.entries(Resources)
    .filter(([, { Type }]) => Type !== 'AWS::Lambda::Version')
    .map(([id, { Type, Properties: { Code: _, ...Properties } = {} }]) => [id, { Type, Properties }]);
  return { Resources: Object.fromEntries(resources), Outputs };
}

/**
 * The version of bag-adres in a template: an output of the service, else the tag of a function; undefined for the data
 * stack, which has none.
 */
export function versionIn(template: ComparedTemplate): string | undefined {
  const output = (template.Outputs?.Version as { Value?: unknown } | undefined)?.Value;
  if (typeof output === 'string') return output;
  return /"Key":"version","Value":"([^"]+)"/.exec(JSON.stringify(template))?.[1];
}
