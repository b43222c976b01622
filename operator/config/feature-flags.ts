/**
 * The CDK's feature flags for building the stacks. They are in the code, not in `cdk.json`, so that
 * a version makes the same templates in every app.
 */
export const featureFlags: Readonly<Record<string, unknown>> = {
  '@aws-cdk/aws-apigateway:disableCloudWatchRole': true,
  '@aws-cdk/aws-cloudwatch-actions:changeLambdaPermissionLogicalIdForLambdaAction': true,
  '@aws-cdk/aws-codedeploy:removeAlarmsFromDeploymentGroup': true,
  '@aws-cdk/aws-events:eventsTargetQueueSameAccount': true,
  '@aws-cdk/aws-iam:minimizePolicies': true,
  '@aws-cdk/aws-kms:reduceCrossAccountRegionPolicyScope': true,
  '@aws-cdk/aws-lambda:createNewPoliciesWithAddToRolePolicy': false,
  '@aws-cdk/aws-lambda:recognizeLayerVersion': true,
  '@aws-cdk/aws-lambda:useCdkManagedLogGroup': true,
  '@aws-cdk/aws-s3:createDefaultLoggingPolicy': true,
  '@aws-cdk/aws-s3:publicAccessBlockedByDefault': true,
  '@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy': true,
  '@aws-cdk/aws-sns-subscriptions:restrictSqsDescryption': true,
  '@aws-cdk/aws-stepfunctions:useDistributedMapResultWriterV2': true,
  '@aws-cdk/core:annotationsInValidationReport': true,
  '@aws-cdk/core:aspectPrioritiesMutating': true,
  '@aws-cdk/core:checkSecretUsage': true,
  '@aws-cdk/core:defaultCrossStackReferences': 'weak',
  '@aws-cdk/core:enablePartitionLiterals': true,
  '@aws-cdk/core:explicitStackTags': true,
  '@aws-cdk/core:includePrefixInUniqueNameGeneration': true,
  '@aws-cdk/core:target-partitions': ['aws', 'aws-cn', 'aws-eusc'],
  '@aws-cdk/core:validateAgainstDefaultRules': true,
};
