import type { Answer } from './consumer.ts';

/** The result of a lookup in a line. The compiler reports an outcome that is not handled. */
export function describeAnswer(answer: Answer): string {
  switch (answer.status) {
    case 'ok':
      return `${answer.address.straat}, ${answer.address.woonplaats}`;
    case 'not_found':
      return `no such address; existing toevoegingen: ${answer.toevoegingen.map((one) => one ?? 'none').join(', ')}`;
    case 'ambiguous':
      return `several: ${answer.candidates.map(({ straat, woonplaats }) => `${straat}, ${woonplaats}`).join('; ')}`;
    default:
      return answer satisfies never;
  }
}
