export type ActorKind = 'cli' | 'key' | 'service';

/** Who does what this process does: the person at the command line, or the running service. */
export abstract class Actor {
  abstract readonly kind: ActorKind;
  abstract readonly name: string;
  /** Why it is done, where a person has said so. */
  readonly reason?: string;
}
