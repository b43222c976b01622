import { fullDiff, type ResourceDifference } from '@aws-cdk/cloudformation-diff';

/** The part of a CloudFormation template that is compared. */
export type ComparedTemplate = {
  Resources?: Record<string, { Type: string; Properties?: Record<string, unknown> }>;
  Outputs?: Record<string, unknown>;
};

/**
 * Resources that an update must keep, because replacing them would lose data, a host name or a URL
 * that callers know. A change of the listed properties makes CloudFormation replace the resource or
 * its value, although its specification doesn't say so; the specification covers all others.
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

export const statefulTypes = Object.keys(mustStay);

/** Something that an update would replace or remove although it has to stay. */
export type Loss = { logicalId: string; type: string; what: string };

/**
 * The resources that an update from `before` to `after` would remove or replace although they have
 * to stay.
 */
export function lossesBetween(before: ComparedTemplate, after: ComparedTemplate): Loss[] {
  const { changes } = fullDiff(before, after).resources;
  return Object.entries(changes).flatMap(([logicalId, change]) => {
    const type = change.oldResourceType ?? '';
    return type in mustStay ? lossesIn(change).map((what) => ({ logicalId, type, what })) : [];
  });
}

function lossesIn(change: ResourceDifference): string[] {
  const { isRemoval, oldResourceType = '', newResourceType, propertyUpdates } = change;
  if (isRemoval) return ['is no longer in the template'];
  if (oldResourceType !== newResourceType) return [`becomes ${newResourceType}`];
  return Object.entries(propertyUpdates)
    .filter(
      ([name, { changeImpact = '' }]) =>
        changeImpact.endsWith('_REPLACE') || mustStay[oldResourceType]?.includes(name),
    )
    .map(([name]) => {
      const effect = name === 'GenerateSecretString' ? 'generates a new value' : 'replaces it';
      return `has another ${name}, so CloudFormation ${effect}`;
    });
}
