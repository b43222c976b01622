import { DomainName, IpAddressType, SecurityPolicy } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayv2DomainProperties } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import type { Config } from '../config/schema.ts';

export type CustomDomainProps = NonNullable<Config['domain']>;

/** A host name of the operator's own: TLS 1.2 or newer, over IPv4 and IPv6. */
export class CustomDomain extends Construct {
  readonly domainName: DomainName;

  constructor(scope: Construct, id: string, { name, certificateArn, hostedZoneId, hostedZoneName }: CustomDomainProps) {
    super(scope, id);
    this.domainName = new DomainName(this, 'Name', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      securityPolicy: SecurityPolicy.TLS_1_2,
      ipAddressType: IpAddressType.DUAL_STACK,
    });
    // Given, not looked up: a synth needs no credentials.
    const zone = HostedZone.fromHostedZoneAttributes(this, 'Zone', { hostedZoneId, zoneName: hostedZoneName });
    const { regionalDomainName, regionalHostedZoneId } = this.domainName;
    const target = RecordTarget.fromAlias(new ApiGatewayv2DomainProperties(regionalDomainName, regionalHostedZoneId));
    new ARecord(this, 'Ipv4', { zone, recordName: name, target });
    new AaaaRecord(this, 'Ipv6', { zone, recordName: name, target });
  }
}
