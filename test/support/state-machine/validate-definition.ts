import { Ajv } from 'ajv';
import validate from 'asl-validator';

// The validator makes an Ajv of the same schemas for each definition, and compiling those costs
// more than everything else: all of them let the first validate.
const { validate: validateBy } = Ajv.prototype;
let first: Ajv | undefined;
Ajv.prototype.validate = function (this: Ajv, schema: string, data: unknown) {
  first ??= this;
  const isValid = validateBy.call(first, schema, data);
  this.errors = first.errors;
  return isValid;
} as typeof validateBy;

/**
 * What a static validator has against a definition in Amazon States Language;
 * `npm run check:states` asks another.
 */
export function aslFaults(definition: object): string[] {
  // It writes defaults into what it is given.
  const { errors } = validate(structuredClone(definition), { checkPaths: true, checkArn: false });
  return errors.map((error) => `${error['Error code']}: ${error.Message}`);
}
