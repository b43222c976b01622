/** What this reads of a CloudFormation template. */
export type ComparedTemplate = {
  Resources?: Record<string, { Type: string; Properties?: Record<string, unknown> }>;
  Outputs?: Record<string, unknown>;
};

/**
 * What an update must keep, by the type of the resource: properties whose change makes CloudFormation create another
 * resource, and with it lose data, a host name or a URL that callers know. From the resource reference of
 * CloudFormation ("Update requires: Replacement"); for a secret also what generates another value.
 */
const immutable: Readonly<Record<string, readonly string[]>> = {
  'AWS::ApiGatewayV2::Api': ['ProtocolType'],
  'AWS::ApiGatewayV2::DomainName': ['DomainName'],
  'AWS::Backup::BackupVault': ['BackupVaultName', 'EncryptionKeyArn'],
  'AWS::Cognito::UserPool': ['AliasAttributes', 'UsernameAttributes', 'UsernameConfiguration'],
  'AWS::Cognito::UserPoolDomain': ['Domain'],
  'AWS::DynamoDB::Table': ['AttributeDefinitions', 'KeySchema', 'LocalSecondaryIndexes', 'TableName'],
  'AWS::KMS::Key': ['KeySpec', 'KeyUsage', 'MultiRegion'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::S3::Bucket': ['BucketName'],
  'AWS::SecretsManager::Secret': ['GenerateSecretString', 'Name'],
  'AWS::SNS::Topic': ['FifoTopic', 'TopicName'],
  'AWS::StepFunctions::StateMachine': ['StateMachineName', 'StateMachineType'],
};

/** Whether an update must keep a resource of this type. */
export function isStateful(type: string): boolean {
  return type in immutable;
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
  const [old, next] = [resourcesOf(before), resourcesOf(after)];
  const losses: Loss[] = [];
  for (const [logicalId, { Type: type, Properties: properties = {} }] of old) {
    if (!isStateful(type)) continue;
    const now = next.get(logicalId);
    const lost = (what: string) => losses.push({ logicalId, type, what });
    if (!now) lost('is no longer in the template');
    else if (now.Type !== type) lost(`becomes ${now.Type}`);
    else
      for (const name of immutable[type] ?? [])
        if (!isSame(properties[name], now.Properties?.[name]))
          lost(
            `has another ${name}, for which CloudFormation ${name === 'GenerateSecretString' ? 'generates a new value' : 'replaces it'}`,
          );
  }
  for (const name of Object.keys(before.Outputs ?? {}))
    if (!(name in (after.Outputs ?? {}))) losses.push({ logicalId: name, type: 'output', what: 'is no longer there' });
  return {
    added: [...next.keys()].filter((id) => !old.has(id)).length,
    removed: [...old.keys()].filter((id) => !next.has(id)).length,
    changed: [...old].filter(([id, resource]) => next.has(id) && !isSame(resource, next.get(id))).length,
    losses,
  };
}

function resourcesOf({ Resources = {} }: ComparedTemplate) {
  return new Map(
    Object.entries(Resources)
      .filter(([, { Type }]) => Type !== 'AWS::Lambda::Version')
      .map(([id, { Type, Properties: { Code: _, ...Properties } = {} }]) => [id, { Type, Properties }]),
  );
}

/** Equal but for the order of the members of an object. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}

/**
 * The version of bag-adres in a template: an output of the service, else a tag; undefined for the data stack, which has
 * none.
 */
export function versionIn(template: ComparedTemplate): string | undefined {
  const output = (template.Outputs?.Version as { Value?: unknown } | undefined)?.Value;
  if (typeof output === 'string') return output;
  return /"Key":"version","Value":"([^"]+)"/.exec(JSON.stringify(template))?.[1];
}
