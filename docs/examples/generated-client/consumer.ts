import { Api, type LookupAnswer } from './client.ts';

export type Query = { postcode: string; huisnummer: number; toevoeging?: string };

/** The generated client, with the key in the header of every request. */
export function createClient(baseUrl: string, key: string) {
  return new Api({ baseUrl: `${baseUrl}/v1`, baseApiParams: { headers: { 'X-API-Key': key } } });
}

/** The result of a lookup in a line. The compiler checks that every outcome and every problem is handled. */
export async function describeLookup(client: ReturnType<typeof createClient>, query: Query): Promise<string> {
  const response = await client.address.lookUpAddress(query);
  if (response.ok) return describeAnswer(response.data);
  const problem = response.error;
  switch (problem.type) {
    case '/problems/invalid-input':
      return `invalid: ${problem.errors.map(({ parameter, code }) => `${parameter} ${code}`).join(', ')}`;
    case '/problems/quota-exceeded':
      return `no quota left this ${problem.violated_windows.join(' and ')}`;
    case '/problems/unauthorized':
    case '/problems/account-inactive':
    case '/problems/plan-inactive':
      return `refused: ${problem.title}`;
    case '/problems/internal-error':
    case '/problems/temporarily-unavailable':
      return `failed: ${problem.title}`;
    default:
      return problem satisfies never;
  }
}

function describeAnswer(answer: LookupAnswer): string {
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
