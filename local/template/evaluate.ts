import type { Resource, StackTemplate } from './assembly.ts';

/** The template says something that the local run does not understand. */
export class TemplateError extends Error {
  override name = 'TemplateError';
}

/** What stands on this machine for the things that only exist once deployed. */
export interface LocalValues {
  /** The name of a table, from its logical id. */
  tableName(logicalId: string): string;
  /** The text of every secret. */
  readonly secret: string;
}

/** Turns a value of a template into a plain one, as CloudFormation would; `undefined` is `AWS::NoValue`. */
export type Evaluate = (value: unknown, stack: StackTemplate) => unknown;

const pseudoParameters: Record<string, string | undefined> = {
  'AWS::AccountId': '000000000000',
  'AWS::Partition': 'aws',
  'AWS::Region': 'eu-west-1',
  'AWS::StackId': 'arn:aws:cloudformation:eu-west-1:000000000000:stack/local/local',
  'AWS::URLSuffix': 'amazonaws.com',
};

const secretReference = /\{\{resolve:secretsmanager:.+?:SecretString:[^}]*\}\}/g;

/** Evaluates values across `stacks`: what one exports, another may import. */
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
        const [id = '', attribute = ''] = Array.isArray(argument) ? argument : String(argument).split('.');
        return attributeOf(String(id), String(attribute), stack);
      }
      case 'Fn::Join': {
        const [separator, parts] = argument as [string, unknown];
        // Evaluated again: a dynamic reference to a secret only shows once its parts are joined.
        return evaluate((evaluate(parts, stack) as unknown[]).join(separator), stack);
      }
      case 'Fn::Select': {
        const [index, list] = argument as [number | string, unknown];
        return (evaluate(list, stack) as unknown[])[Number(index)];
      }
      case 'Fn::Split': {
        const [separator, text] = argument as [string, unknown];
        return String(evaluate(text, stack)).split(separator);
      }
      case 'Fn::Sub':
        return substitute(argument, stack);
      case 'Fn::ImportValue':
        return imported(evaluate(argument, stack));
      case 'Fn::GetStackOutput': {
        const { StackName, OutputName } = evaluate(argument, stack) as { StackName?: unknown; OutputName?: unknown };
        return outputOf(String(StackName), String(OutputName));
      }
      default:
        throw new TemplateError(`${stack.name} uses ${name}, which the local run does not evaluate`);
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

  function substitute(argument: unknown, stack: StackTemplate): unknown {
    const [text, own] = Array.isArray(argument) ? argument : [argument, {}];
    const replaced = String(text).replace(/\$\{([^!}][^}]*)\}/g, (_whole, name: string) => {
      if (name in own) return String(evaluate(own[name], stack));
      return String(evaluate(name.includes('.') ? { 'Fn::GetAtt': name } : { Ref: name }, stack));
    });
    return evaluate(replaced.replaceAll('${!', '${'), stack);
  }

  function outputOf(stackName: string, outputName: string): unknown {
    const stack = stacks.find(({ name }) => name === stackName);
    const output = stack?.outputs[outputName];
    if (!stack || !output) throw new TemplateError(`The stack ${stackName} has no output ${outputName}`);
    return evaluate(output.Value, stack);
  }

  function imported(exportName: unknown): unknown {
    for (const stack of stacks) {
      for (const { Value, Export } of Object.values(stack.outputs)) {
        if (Export !== undefined && evaluate(Export.Name, stack) === exportName) return evaluate(Value, stack);
      }
    }
    throw new TemplateError(`No stack exports ${String(exportName)}`);
  }

  return evaluate;
}

function resourceOf(id: string, stack: StackTemplate): Resource {
  const resource = stack.resources[id];
  if (resource === undefined) throw new TemplateError(`${stack.name} refers to ${id}, which it does not have`);
  return resource;
}

const arn = (service: string, rest: string) => `arn:aws:${service}:eu-west-1:000000000000:${rest}`;

/** The ARN that stands for a function on this machine; its last part is the logical id. */
function functionArn(idOrArn: string): string {
  return idOrArn.startsWith('arn:') ? idOrArn : arn('lambda', `function:${idOrArn}`);
}
