import * as z from 'zod';

/** An operator's request for a load. */
export const loadRequest = z.object({
  /**
   * The extract: a URL, `s3://bucket/key` or the path of a file. Without it there are only
   * mutations.
   */
  source: z.string().optional(),
  /** Where mutations are: lists, folders and zips. */
  mutations: z.array(z.string()).readonly().optional(),
  /** A date or a load to roll back to, instead of loading an extract. */
  rollback: z.string().optional(),
  /**
   * A load that may continue despite its objections; without a source, it continues from the guard
   * on.
   */
  approve: z.string().optional(),
  /** A refused load whose contents are not to be loaded again, instead of loading anything. */
  reject: z.string().optional(),
  /** Loads the extract even if it is live or was rolled back. */
  again: z.boolean().optional(),
  /**
   * Changes nothing, and proposes a load as if any load interrupted while applying were finished.
   */
  planOnly: z.boolean().optional(),
});

/** The request with the id of the load and the owner of the lock: the input of every step. */
export const stepInput = loadRequest.extend({ load: z.string(), owner: z.string() });
