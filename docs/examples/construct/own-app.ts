/**
 * An app of your own with the address service in it, and a function that checks keys and counts
 * requests as the service does.
 */
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { BagAdres } from 'bag-adres';

const app = new App();

const bagAdres = new BagAdres(app, 'BagAdres', {
  stage: 'test',
  region: 'eu-central-1',
  alarmEmail: 'beheer@example.nl',
  throttle: { ratePerSecond: 50, burst: 100 },
});

const own = new Stack(app, 'Own', { env: { region: 'eu-central-1' } });
const gateway = new LambdaFunction(own, 'Gateway', {
  runtime: Runtime.NODEJS_24_X,
  handler: 'index.handler',
  code: Code.fromInline('exports.handler = async () => ({ statusCode: 204 });'),
  environment: { ADDRESS_API: bagAdres.api.url, ACCOUNTS_TABLE: bagAdres.accounts.table.tableName },
});
bagAdres.accounts.grantCharge(gateway);
bagAdres.addresses.grantRead(gateway);
new CfnOutput(own, 'AddressApi', { value: bagAdres.api.url });

app.synth();
