import { type Environment, environment, optionalEnvironment } from '../../core/environment.ts';
import type { IncludeName } from '../../core/place-fields.ts';
import { availableIncludesIn } from '../../core/place-fields.ts';
import { type Branding, readBranding } from './branding.ts';
import { OpenApi } from './openapi-document.ts';
import { hasDocsIn } from './published.ts';

export type Site = {
  branding: Branding;
  /** The URL that the documents name, if the operator has set it. */
  publicUrl: string | undefined;
  /** Whether it shows the page with the reference. */
  hasDocs: boolean;
  /** What `include` can name. */
  available: readonly IncludeName[];
  api: OpenApi;
};

/** The site of a deployment, by the variables of its function. */
export function siteOf(variables: Environment): Site {
  const available = availableIncludesIn(variables);
  return {
    branding: readBranding(variables),
    publicUrl: optionalEnvironment(environment.publicUrl, variables),
    hasDocs: hasDocsIn(variables),
    available,
    api: new OpenApi(available),
  };
}
