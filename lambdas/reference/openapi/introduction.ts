/** What a reader has to know before the operations; CommonMark. */
export const introduction = `Looks up the street and the place of a Dutch address by its postcode, huisnummer and toevoeging, in a copy of the
[BAG](https://www.kadaster.nl/zakelijk/registraties/basisregistraties/bag), the register of addresses.

**Keys.** Every operation but \`/openapi.json\` needs an API key in the header \`X-API-Key\`. Call the interface from a back end:
a key does not belong in a browser, so no CORS headers are sent.

**Outcomes.** A lookup that was understood answers 200 and one of three outcomes, told apart by \`status\`: \`ok\`, \`not_found\`
and \`ambiguous\`. Names are as the register writes them. PO boxes are not in the register, and an address without a postcode
can't be found.

**Problems.** Everything else is problem details (RFC 9457) as \`application/problem+json\`. The \`type\` is stable and resolves to
a page that says what happened and what to do; compare it as text. \`title\` and \`detail\` are for people.

**Quota.** A valid lookup counts one unit in every window of time of the account's plan. Answered lookups and 429 tell how much is
left in \`RateLimit-Policy\` and \`RateLimit\`. On 429 and 503 wait for as long as \`Retry-After\` says.

**Compatibility.** Within \`/v1\` nothing is taken away or changed; members, headers, problem types and operations may be added, so
ignore what you do not know. \`API-Version\` tells the version that answered.`;
