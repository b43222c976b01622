/** Why a request is refused before anything about accounts or addresses matters. */
export type HttpRefusalReason =
  | { code: 'not-found' }
  | { code: 'method-not-allowed'; allow: Method }
  | { code: 'content-too-large' }
  | { code: 'unsupported-media-type' };

export type Method = 'GET' | 'POST';

/** A refusal by HTTP's own rules: thrown by the code that decides, rendered once at the edge. */
export class HttpRefusal extends Error {
  override name = 'HttpRefusal';
  readonly reason: HttpRefusalReason;

  constructor(reason: HttpRefusalReason) {
    super(reason.code);
    this.reason = reason;
  }
}
