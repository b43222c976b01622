import { Ajv } from 'ajv';
import languageService from 'amazon-states-language-service';
import validate from 'asl-validator';

/** What each of the two validators has against a definition. */
export type Verdict = { aslValidator: string[]; languageService: string[] };

const service = languageService.getLanguageService({});

// The validator makes an Ajv of the same schemas for each definition, and compiling those costs more than everything
// else: all of them let the first validate.
const { validate: validateBy } = Ajv.prototype;
let first: Ajv | undefined;
Ajv.prototype.validate = function (this: Ajv, schema: string, data: unknown) {
  first ??= this;
  const isValid = validateBy.call(first, schema, data);
  this.errors = first.errors;
  return isValid;
} as typeof validateBy;

/** Both static validators over a definition in Amazon States Language: neither finds all that the other does. */
export async function validateDefinition(definition: object): Promise<Verdict> {
  // It writes defaults into what it is given.
  const { errors } = validate(structuredClone(definition), { checkPaths: true, checkArn: false });
  const text = JSON.stringify(definition, null, 2);
  const document = languageService.TextDocument.create('definition.asl.json', 'asl', 1, text);
  const found = await service.doValidation(document, service.parseJSONDocument(document));
  return {
    aslValidator: errors.map((error) => `${error['Error code']}: ${error.Message}`),
    languageService: found.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`),
  };
}
