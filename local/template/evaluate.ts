/** One stack's synthesized template, and the folders with the code of its functions. */
export type StackTemplate = {
  readonly name: string;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly outputs: Readonly<Record<string, { Value: unknown }>>;
  readonly parameters: Readonly<Record<string, { Default?: unknown }>>;
  /** From the asset's hash to its absolute path. */
  readonly assets: ReadonlyMap<string, string>;
};

export type Resource = {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
};

/** The template uses something that the local run does not support. */
export class TemplateError extends Error {
  override name = 'TemplateError';
}

/** The local values for what only exists once deployed. */
export type LocalValues = {
  /** The local name of a table, by its logical id. */
  tableName(logicalId: string): string;
  /** The value of every secret. */
  readonly secret: string;
};

/** Resolves the intrinsic functions in a value, as CloudFormation does; `undefined` stands for `AWS::NoValue`. */
export type Evaluate = (value: unknown, stack: StackTemplate) => unknown;

const pseudoParameters: Record<string, string | undefined> = {
  'AWS::AccountId': '000000000000',
  'AWS::Partition': 'aws',
  'AWS::Region': 'eu-west-1',
  'AWS::StackId': 'arn:aws:cloudformation:eu-west-1:000000000000:stack/local/local',
  'AWS::URLSuffix': 'amazonaws.com',
};

const secretReference = /\{\{resolve:secretsmanager:.+?:SecretString:[^}]*\}\}/g;

/**
 * Evaluates values that may refer to outputs of the other `stacks`. It knows the intrinsic functions that
 * our stacks use for routes, tables and functions; any other one is an error rather than a guess.
 */
export function evaluator(stacks: readonly StackTemplate[], local: LocalValues): Evaluate {
  function evaluate(value: unknown, stack: StackTemplate): unknown {
    if (typeof value === 'string') return value.replace(secretReference, () => local.secret);
    if (Array.isArray(value)) return value.map((item) => evaluate(item, stack)).filter((item) => item !== undefined);
    if (typeof value !== 'object' || value === null) return value;
    const [[name, argument] = ['', undefined], ...more] = Object.entries(value);
    if (more.length === 0 && (name === 'Ref' || name.startsWith('Fn::'))) return call(name, argument, stack);
    const members = Object.entries(value).map(([key, item]) => [key, evaluate(item, stack)] as const);
    return Object.fromEntries(members.filter(([, item]) => item !== undefined));
  }

  function call(name: string, argument: unknown, stack: StackTemplate): unknown {
    switch (name) {
      case 'Ref':
        return reference(String(argument), stack);
      case 'Fn::GetAtt': {
        const [id, attribute] = argument as [string, string];
        return attributeOf(id, attribute, stack);
      }
      case 'Fn::Join': {
        const [separator, parts] = argument as [string, unknown];
        // Evaluated again: a dynamic reference to a secret only shows once its parts are joined.
        return evaluate((evaluate(parts, stack) as unknown[]).join(separator), stack);
      }
      case 'Fn::Sub':
        if (typeof argument !== 'string') throw unsupported(`${name} with variables`, stack);
        return argument.replace(/\$\{([^}]+)\}/g, (_whole, id: string) => String(reference(id, stack)));
      case 'Fn::GetStackOutput': {
        const { StackName, OutputName } = evaluate(argument, stack) as { StackName?: unknown; OutputName?: unknown };
        return outputOf(String(StackName), String(OutputName));
      }
      case 'Fn::ImportValue': {
        // The CDK names an export after its stack and output.
        const [stackName = '', outputName = ''] = String(evaluate(argument, stack)).split(':');
        return outputOf(stackName, outputName);
      }
      default:
        throw unsupported(name, stack);
    }
  }

  function reference(id: string, stack: StackTemplate): unknown {
    if (id === 'AWS::NoValue') return undefined;
    if (id === 'AWS::StackName') return stack.name;
    if (id in pseudoParameters) return pseudoParameters[id];
    const parameter = stack.parameters[id];
    if (parameter) return parameter.Default;
    const resource = resourceOf(id, stack);
    switch (resource.Type) {
      case 'AWS::DynamoDB::Table':
      case 'AWS::DynamoDB::GlobalTable':
        return local.tableName(id);
      case 'AWS::SecretsManager::Secret':
        return arn('secretsmanager', `secret:${id}`);
      case 'AWS::Lambda::Alias':
      case 'AWS::Lambda::Version':
        return functionArn(String(evaluate(resource.Properties.FunctionName, stack)));
      default:
        return id;
    }
  }

  function attributeOf(id: string, attribute: string, stack: StackTemplate): string {
    const { Type } = resourceOf(id, stack);
    if (Type === 'AWS::Lambda::Function' && attribute === 'Arn') return functionArn(id);
    if (Type === 'AWS::DynamoDB::Table' && attribute === 'Arn') return arn('dynamodb', `table/${local.tableName(id)}`);
    return `${id}.${attribute}`;
  }

  function outputOf(stackName: string, outputName: string): unknown {
    const stack = stacks.find(({ name }) => name === stackName);
    const output = stack?.outputs[outputName];
    if (!stack || !output) throw new TemplateError(`The stack ${stackName} has no output ${outputName}`);
    return evaluate(output.Value, stack);
  }

  return evaluate;
}

function unsupported(what: string, { name }: StackTemplate): TemplateError {
  return new TemplateError(`The stack ${name} uses ${what}, which local/template/evaluate.ts does not support`);
}

function resourceOf(id: string, stack: StackTemplate): Resource {
  const resource = stack.resources[id];
  if (resource === undefined)
    throw new TemplateError(`The stack ${stack.name} refers to ${id}, which is not in its template`);
  return resource;
}

const arn = (service: string, rest: string) => `arn:aws:${service}:eu-west-1:000000000000:${rest}`;

/** The local ARN of a function; it ends with the logical id. */
function functionArn(idOrArn: string): string {
  return idOrArn.startsWith('arn:') ? idOrArn : arn('lambda', `function:${idOrArn}`);
}
