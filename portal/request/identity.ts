import { isPerson } from '../../packages/admin/index.ts';

/** The claims that identify a person, and that mark an operator. */
export type IdentitySettings = {
  /** The claim that identifies a person for good; `sub`, or `oid` for Entra ID. */
  subjectClaim: string;
  /** Verified e-mail addresses of operators, in lower case. */
  operators: readonly string[];
  /**
   * A claim whose value, or one of whose values, makes an operator: `groups`,
   * `bag-adres-operators`.
   */
  operatorClaim?: { name: string; value: string };
};

/** A signed-in person, as reported by the provider. */
export type Identity = {
  /** `sub:` and the subject: how the admin module names a person. */
  subject: string;
  /** In lower case; only if the provider says that it is verified. */
  email?: string;
  /** Why an e-mail address that the provider sent identifies no one. */
  emailFault?: 'unverified' | 'form';
  name: string;
  /** The claim that makes this person an operator, as `operatorClaimOf` writes it. */
  operatorClaim?: string;
};

/** The provider identifies a person in a way that can't be stored or compared safely. */
export class UnusableIdentity extends Error {
  override name = 'UnusableIdentity';
}

type Claims = Readonly<Record<string, unknown>>;

/**
 * Reads who signed in: the subject and the operator's claim from the signed ID token, the e-mail
 * address with its flag from one source, and nothing trimmed or guessed. An e-mail address that is
 * not verified identifies no one.
 * @param userInfo the provider's claims beside the ID token, if the token has no e-mail address
 * @throws UnusableIdentity
 */
export function readIdentity(
  idToken: Claims,
  userInfo: Claims,
  settings: IdentitySettings,
): Identity {
  const { subjectClaim, operatorClaim } = settings;
  const subject = `sub:${idToken[subjectClaim]}`;
  if (typeof idToken[subjectClaim] !== 'string' || !isPerson(subject)) {
    throw new UnusableIdentity(
      `The claim ${subjectClaim} is not 1 to 255 ASCII characters without spaces.`,
    );
  }
  const email = readEmail('email' in idToken ? idToken : userInfo);
  const name = [idToken.name, userInfo.name].find(
    (claim) => typeof claim === 'string' && claim.trim() !== '',
  );
  const values = operatorClaim ? [idToken[operatorClaim.name]].flat() : [];
  return {
    subject,
    ...email,
    name: String(name ?? email.email ?? idToken[subjectClaim]).slice(0, 100),
    ...(operatorClaim &&
      values.includes(operatorClaim.value) && { operatorClaim: operatorClaimOf(operatorClaim) }),
  };
}

function readEmail({
  email,
  email_verified: flag,
}: Claims): Pick<Identity, 'email' | 'emailFault'> {
  if (typeof email !== 'string') return {};
  // Cognito sends the text "true" in some responses.
  if (flag !== true && flag !== 'true') return { emailFault: 'unverified' };
  if (email.startsWith('sub:') || !isPerson(email)) return { emailFault: 'form' };
  return { email: email.toLowerCase() };
}

/** A claim with its value, as a session keeps it: another configuration makes no operator of it. */
function operatorClaimOf({ name, value }: { name: string; value: string }): string {
  return `${name}=${value}`;
}

/**
 * How old the provider's word on an operator's claim may be when a page is requested; then the
 * provider is asked again.
 */
const confirmedSeconds = 5 * 60;

/** The same for a form, which takes time to fill in. */
const confirmedForFormSeconds = 15 * 60;

/** The parts of a session that decide whether somebody is an operator. */
export type OperatorEvidence = {
  email?: string | undefined;
  operatorClaim?: string | undefined;
  confirmed: string;
};

/**
 * Whether somebody is an operator: decided on every request, so that removal from the list takes
 * effect in open sessions. `stale` if that rests on a claim which the provider has to confirm
 * first.
 */
export function operatorStatus(
  { email, operatorClaim, confirmed }: OperatorEvidence,
  settings: Pick<IdentitySettings, 'operators' | 'operatorClaim'>,
  request: { now: number; isForm: boolean },
): 'yes' | 'no' | 'stale' {
  if (email !== undefined && settings.operators.includes(email)) return 'yes';
  if (!settings.operatorClaim || operatorClaim !== operatorClaimOf(settings.operatorClaim)) {
    return 'no';
  }
  const age = (request.now - Date.parse(confirmed)) / 1000;
  return age <= (request.isForm ? confirmedForFormSeconds : confirmedSeconds) ? 'yes' : 'stale';
}
