import { Condition } from 'aws-cdk-lib/aws-stepfunctions';

/** A condition in JSONata. */
export function when(expression: string): Condition {
  return Condition.jsonata(`{% ${expression} %}`);
}

/** Variables that take the members of these names from what a state is given. */
export function taken(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `{% $states.input.${name} %}`]));
}
