import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CommandError } from '../commands/command-error.ts';

/** The text of a secret in Secrets Manager. */
export async function readSecret(arn: string): Promise<string> {
  const client = new SecretsManagerClient();
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: arn }));
    if (SecretString) return SecretString;
    throw new CommandError('no_secret', `The secret ${arn} is empty; the stack must have made it with a text.`);
  } finally {
    client.destroy();
  }
}
