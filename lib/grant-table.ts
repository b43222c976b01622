import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';

/** What DynamoDB does with a table's key in the name of whoever calls it; named in full, without the CDK's wildcards. */
const keyActions = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** Lets `grantee` do these operations on the table, `GetItem`, and no other; and use its key, where it has one. */
export function grantTable(table: ITable, grantee: IGrantable, ...operations: string[]): void {
  table.grant(grantee, ...operations.map((operation) => `dynamodb:${operation}`));
  table.encryptionKey?.grant(grantee, ...keyActions);
}
