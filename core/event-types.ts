/** The source of all events on EventBridge, and the version of their form (docs/events.md). */
export const eventSource = 'bag-adres';
export const eventVersion = 1;

/** The kinds of event, as their detail-type names them. */
export const eventTypes = {
  quotaThreshold: 'quota.threshold',
  loadPublished: 'load.published',
  loadRefused: 'load.refused',
  loadFailed: 'load.failed',
} as const;
