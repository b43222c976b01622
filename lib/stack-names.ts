/** How the stacks of a stage are called in CloudFormation; the command line finds them by these names. */
export function stackNames(stage: string) {
  return {
    data: `bag-adres-${stage}-data`,
    service: `bag-adres-${stage}-service`,
    loader: `bag-adres-${stage}-loader`,
  } as const;
}
