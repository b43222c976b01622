import Ajv, { type KeywordDefinition, type Options } from 'ajv';
import languageService from 'amazon-states-language-service';
import validate from 'asl-validator';

/** What each of the two validators has against a definition. */
export type Verdict = { aslValidator: string[]; languageService: string[] };

const service = languageService.getLanguageService({});

/** An Ajv that the formats of a package may be added to again. */
class LastingAjv extends Ajv.default {
  override addKeyword(keyword: string | KeywordDefinition): Ajv.default {
    const isKnown = typeof keyword === 'object' && [keyword.keyword].flat().every((name) => this.getKeyword(name));
    return isKnown ? this : super.addKeyword(keyword);
  }
}

let made: LastingAjv | undefined;

/** asl-validator makes an Ajv and compiles its schemas again for each definition, a tenth of a second: it gets the same one each time. */
function sharedAjv(options: Options): LastingAjv {
  made ??= new LastingAjv(options);
  return made;
}
Object.assign(Ajv, { default: sharedAjv });

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
