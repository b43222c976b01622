import { RemovalPolicy } from 'aws-cdk-lib';
import type { Config } from './config/schema.ts';

/** What becomes of data when its stack goes. */
export function removal({ removalPolicy }: Config): RemovalPolicy {
  return removalPolicy === 'destroy' ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;
}

/** Whether stacks and tables refuse to be deleted. */
export function isProtected({ removalPolicy }: Config): boolean {
  return removalPolicy === 'retain';
}
