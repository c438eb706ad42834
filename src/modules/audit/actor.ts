export type ActorKind = 'cli' | 'key' | 'service';

/** Who is recorded as the author of changes: the person at the command line, or the running service. */
export abstract class Actor {
  abstract readonly kind: ActorKind;
  abstract readonly name: string;
  /** The reason that a person gave, if any. */
  readonly reason?: string;
}
