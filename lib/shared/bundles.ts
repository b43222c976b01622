import { loadSteps } from '../../loader/steps/load-steps.ts';
import { apiFunctions } from './routes.ts';

/** The sources of a bundle. */
export type BundleSource = {
  /**
   * The modules with the handlers, relative to the root of the project, by their names in the
   * bundle.
   */
  entries: Readonly<Record<string, string>>;
  /**
   * Further files and folders, by their names in the bundle; relative to the root of the project.
   */
  files?: Readonly<Record<string, string>>;
  /**
   * Whether a CommonJS dependency requires Node's modules at run time, which an ES module can't do
   * by itself.
   */
  requires?: boolean;
};

/** The style and scripts of a function with pages. */
const files = { assets: 'packages/ui/assets' };

/**
 * The code of every function that any configuration deploys, by name. A release contains all of it,
 * so an installed package deploys whatever a clone does.
 */
export const bundles = {
  Address: { entries: { index: apiFunctions.Address.lambda } },
  Validate: { entries: { index: apiFunctions.Validate.lambda }, files },
  Canary: { entries: { index: 'lambdas/canary/canary-handler.ts' } },
  Usage: { entries: { index: 'packages/admin/usage-job/usage-handler.ts' } },
  // One bundle for all steps, because they share most of their code.
  Loader: {
    entries: Object.fromEntries(
      Object.keys(loadSteps).map((step) => [step, `loader/steps/${step}.ts`]),
    ),
    requires: true,
  },
  BackupCopies: { entries: { index: 'operator/recovery/copies.ts' } },
  Portal: { entries: { index: 'portal/portal-handler.ts' }, files },
  PortalCanary: { entries: { index: 'portal/canary.ts' } },
} as const satisfies Record<string, BundleSource>;

export type BundleName = keyof typeof bundles;
