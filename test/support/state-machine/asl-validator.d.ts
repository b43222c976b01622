/** The package comes without the types that it was built with. */
declare module 'asl-validator' {
  export default function validate(
    definition: object,
    options: { checkPaths: boolean; checkArn: boolean },
  ): { isValid: boolean; errors: { 'Error code': string; Message: string }[] };
}
