/** A CommonJS program, as NestJS compiles one, under the resolution of node16: calls of each part of the package. */
import assert = require('node:assert/strict');

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Admin, AdminError, createAdmin, isAdminError } from 'bag-adres-admin';
import { createLoads } from 'bag-adres-admin/loads';
import { createStatements, type Statements, statementsCsv } from 'bag-adres-admin/statements';

async function main(): Promise<void> {
  const { DYNAMODB_ENDPOINT = '', ACCOUNTS_TABLE = '' } = process.env;
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const connection = new DynamoDBClient({
    endpoint: DYNAMODB_ENDPOINT,
    region: 'eu-west-1',
    credentials,
  });
  const client = DynamoDBDocumentClient.from(connection);
  const admin: Admin = createAdmin({ client, table: ACCOUNTS_TABLE });
  await admin.plans.put({ code: 'nest', limits: { day: 100 } });
  await admin.accounts.create({ id: 'nest', plan: 'nest' });
  const { keyId } = await admin.keys.create({
    account: 'nest',
    label: 'web',
    expires: new Date(Date.now() + 90_500),
  });
  assert.equal((await admin.keys.list('nest'))[0]?.keyId, keyId);
  for await (const { days } of admin.accounts.eachUsage()) assert.equal(days.at(-1)?.lookups, 0);
  await admin.keys.revoke({ account: 'nest', keyId });

  const s3 = new S3Client({ region: 'eu-west-1', credentials });
  const statements: Statements = createStatements({
    client,
    table: ACCOUNTS_TABLE,
    s3,
    bucket: 'statements',
  });
  assert.equal(typeof createLoads, 'function');
  assert.match(statementsCsv('2026-10', []), /^account,plan/);
  // The same class, wherever a refusal comes from.
  const refused: unknown = await statements
    .show({ account: 'nest', month: 'x' })
    .catch((error: unknown) => error);
  assert.ok(refused instanceof AdminError && refused.code === 'invalid');
  // Another class, where another part of the program imports the package; the same answer.
  const imported = await import('bag-adres-admin');
  const other = imported.createAdmin({ client, table: ACCOUNTS_TABLE });
  const alsoRefused: unknown = await other.keys
    .create(null as never)
    .catch((error: unknown) => error);
  assert.ok(!(alsoRefused instanceof AdminError));
  assert.ok(isAdminError(alsoRefused) && alsoRefused.code === 'invalid');
  assert.ok(imported.isAdminError(refused) && !isAdminError(new TypeError('other')));
  connection.destroy();
  process.stdout.write(`CommonJS, Node ${process.versions.node}\n`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
