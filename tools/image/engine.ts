/** The service that runs in a container. */
export type RunningContainer = {
  baseUrl: string;
  /** All that it has printed so far. */
  log: () => string;
  /** The user that the process of the service has, as a number. */
  userId: () => Promise<number>;
  /** The command of HEALTHCHECK, run in it: whether it ended with 0. */
  isHealthy: () => Promise<boolean>;
  /** What `docker stop` does: SIGTERM, and SIGKILL 10 seconds later. Gives the exit code. */
  stop: () => Promise<number>;
};

/** Something that builds the image of the Dockerfile and runs it as `docker run --read-only --tmpfs /tmp` would. */
export type Engine = {
  name: string;
  /** Builds the image and gives its size in bytes. */
  build: () => Promise<number>;
  /** The data, mounted at /data, are kept from one start to the next. */
  start: () => Promise<RunningContainer>;
  /** Removes what was made, but for the base. */
  clear: () => Promise<void>;
};
