import { STSClient } from '@aws-sdk/client-sts';
import { environment } from '../../core/environment.ts';
import { settingsFileName } from '../../lib/config/deployment.ts';
import { defaultDataFolder } from '../../local/data-folder.ts';
import { placeOfStage } from '../config/settings.ts';
import { clientConfig, deploymentStacks } from './deployed-stacks.ts';
import { CommandError } from './errors.ts';
import { type ConnectionOptions, callerIdentity } from './find-tables.ts';

/**
 * What a command changes, shown to people before the change:
 * `bag-adres-prod in account 123456789012, eu-central-1`.
 * @throws CommandError `other_target` if the settings of this folder have another account for the
 * deployment
 */
export async function targetOf(
  { local, data, stage, accountsTable }: ConnectionOptions,
  folder: string,
) {
  if (local) return `npm start on this machine, ${data ?? defaultDataFolder}`;
  const sts = new STSClient(clientConfig);
  const [actor, region] = await Promise.all([callerIdentity(), sts.config.region()]);
  const [, account] = /^arn:[^:]*:[^:]*:[^:]*:(\d+):/.exec(actor) ?? [];
  const place = `in account ${account ?? 'unknown, as AWS did not say'}, ${region}`;
  if (stage === undefined) {
    return `table ${accountsTable ?? process.env[environment.accountsTable]} ${place}`;
  }
  const { name } = deploymentStacks(stage);
  const { account: wanted = account } = placeOfStage(folder, stage) ?? {};
  if (wanted === account || account === undefined) return `${name} ${place}`;
  const message = `${settingsFileName} has ${name} in account ${wanted}, but the credentials are of ${account}. Nothing was changed. Correct AWS_PROFILE or the file.`;
  throw new CommandError('other_target', message);
}
