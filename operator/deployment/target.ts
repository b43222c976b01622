import { STSClient } from '@aws-sdk/client-sts';
import { environment } from '../../core/environment.ts';
import { settingsFileName } from '../../lib/config/deployment.ts';
import { defaultDataFolder } from '../../local/data-folder.ts';
import { clientConfig, deploymentStacks } from './deployed-stacks.ts';
import { CommandError } from './errors.ts';
import { type ConnectionOptions, callerIdentity } from './find-tables.ts';

/**
 * The place that a command changes, shown to people before the change:
 * `bag-adres-prod in account 123456789012, eu-central-1`.
 */
export async function targetOf({ local, data, stage, accountsTable }: ConnectionOptions) {
  if (local) return `npm start on this machine, ${data ?? defaultDataFolder}`;
  const sts = new STSClient(clientConfig);
  const [account, region] = await Promise.all([accountOfCredentials(), sts.config.region()]);
  const place = `in account ${account ?? 'unknown, as AWS did not say'}, ${region}`;
  return stage === undefined
    ? `table ${accountsTable ?? process.env[environment.accountsTable]} ${place}`
    : `${deploymentStacks(stage).name} ${place}`;
}

/**
 * Refuses credentials of another account than the stage has in its settings, before anything else
 * is asked of AWS: that account may have a stage with the same name, or none.
 * @param wanted the account in the settings
 * @throws CommandError `other_target`
 */
export async function requireAccount(stage: string, wanted: string): Promise<void> {
  const account = await accountOfCredentials();
  if (account === undefined || account === wanted) return;
  const { name } = deploymentStacks(stage);
  const message = `${settingsFileName} has ${name} in account ${wanted}, but the credentials are of ${account}. Nothing was changed. Correct AWS_PROFILE or the file.`;
  throw new CommandError('other_target', message);
}

/** Undefined if AWS can't be asked: an emergency must not wait, and the next call says why. */
async function accountOfCredentials(): Promise<string | undefined> {
  return /^arn:[^:]*:[^:]*:[^:]*:(\d+):/.exec(await callerIdentity())?.[1];
}
