import type { Answer } from './consumer.ts';

type Gemeente = { code: string; naam: string | null; provincie: string | null };
type Place = {
  straat: string;
  woonplaats: string;
  gemeente?: Gemeente | null;
  nummeraanduidingen?: string[];
};

/** The result of a lookup in a line. The compiler reports an outcome that is not handled. */
export function describeAnswer(answer: Answer): string {
  switch (answer.status) {
    case 'ok':
      return describePlace(answer.address) + toevoegingenOf(answer);
    case 'not_found':
      return `no such address${toevoegingenOf(answer)}`;
    case 'ambiguous':
      return `several: ${answer.candidates.map(describePlace).join('; ')}${toevoegingenOf(answer)}`;
    default:
      return answer satisfies never;
  }
}

/** The gemeente and the ids are there if `include` names them. */
function describePlace({ straat, woonplaats, gemeente, nummeraanduidingen = [] }: Place): string {
  return [straat, woonplaats, ...gemeenteOf(gemeente), ...nummeraanduidingen].join(', ');
}

function gemeenteOf(gemeente: Place['gemeente']): string[] {
  if (gemeente === undefined) return [];
  return [gemeente === null ? 'no gemeente' : `gemeente ${gemeente.naam ?? gemeente.code}`];
}

/** The list is there if `include` names it, and always if the address does not exist. */
function toevoegingenOf({ toevoegingen }: Answer): string {
  return toevoegingen
    ? `; existing toevoegingen: ${toevoegingen.map((one) => one ?? 'none').join(', ')}`
    : '';
}
