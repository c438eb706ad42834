/** A request that wrote or read a value. `sent` and `answered` are positions in the sequence of all sends and answers. */
export interface Operation {
  kind: 'read' | 'write';
  /** The value that was written or read. Only deletions may write the same value twice. */
  value: string;
  /** The value that a conditional write replaced. */
  replaced?: string | undefined;
  sent: number;
  /** Null if the outcome is unknown. The write may have happened at any time after it was sent, or never. */
  answered: number | null;
}

/** A resource that has one value at a time. Its last operation is a read after all others were answered. */
export interface Register {
  initial: string;
  operations: Operation[];
}

/** The stock of a pet that is ordered. */
export interface Stock {
  initial: number;
  final: number;
  adjustments: { by: number; isUnknown: boolean }[];
  /** The ids of the orders in the answers to each request, which may have been sent several times under one Idempotency-Key. */
  acknowledged: Record<string, number[]>;
  /** How many orders have an unknown outcome. */
  unknownOrders: number;
  orders: { id: number; quantity: number; isCancelled: boolean }[];
}

export interface History {
  registers: Record<string, Register>;
  stocks: Record<string, Stock>;
}

/** The reasons why no sequence of the operations explains all answers; an empty list if one does. */
export function contradictionsIn({ registers, stocks }: History): string[] {
  return [
    ...Object.entries(registers).flatMap(([name, one]) => inRegister(one).map((text) => `${name}: ${text}`)),
    ...Object.entries(stocks).flatMap(([name, one]) => inStock(one).map((text) => `${name}: ${text}`)),
  ];
}

interface Write extends Operation {
  reads: Operation[];
  /** The conditional writes that replaced the value of this write. */
  next: Write[];
}

/**
 * Checks whether the register is linearizable (Herlihy and Wing), that is, whether its operations can be put in one
 * sequence. In this sequence, each read has the value of the latest write before it, and an operation that was answered
 * before another one was sent comes before that one. As every value is written once, a write and the reads of its value
 * form a cluster without another write in it, so the clusters are sorted topologically (Gibbons and Korach).
 *
 * An example is a register with the initial value a, and the history `write b 0-1, read a 2-3` (sent-answered). The
 * cluster of a must come first, because a was there before b was sent. The cluster of b must come first, too, because
 * b was written before a was read. So no sequence exists: the update to b was lost, or the read was out of date.
 */
function inRegister({ initial, operations }: Register): string[] {
  const found: string[] = [];
  const writes = new Map<string, Write>();
  const first: Operation = { kind: 'write', value: initial, sent: -1, answered: -1 };
  // A deletion may have been sent several times. The last one here counts: the one that was answered first, or else sent first.
  const sorted = operations.toSorted((one, other) => endOf(other) - endOf(one) || other.sent - one.sent);
  for (const write of [first, ...sorted.filter(({ kind }) => kind === 'write')]) {
    writes.set(write.value, { ...write, reads: [], next: [] });
  }
  for (const read of operations.filter(({ kind }) => kind === 'read')) {
    const write = writes.get(read.value);
    if (write === undefined) found.push(`${read.value} was read, and never written`);
    write?.reads.push(read);
  }
  const happened = new Set<Write>();
  const follow = (write: Write): void => {
    if (happened.has(write)) return;
    happened.add(write);
    if (write.replaced === undefined) return;
    const before = writes.get(write.replaced);
    if (before === undefined) {
      found.push(`${write.value} replaced ${write.replaced}, which was never written`);
    } else {
      before.next.push(write);
      // The write that it replaced has happened, even if its outcome is unknown.
      follow(before);
    }
  };
  [...writes.values()].filter((write) => write.answered !== null || write.reads.length > 0).forEach(follow);
  for (const { value, next } of writes.values()) {
    if (next.length > 1) {
      found.push(`${next.map((one) => one.value).join(' and ')} both replaced ${value}: an update is lost`);
    }
  }
  if (found.length > 0) return found;

  // Only reads stand between a conditional write and the write whose value it replaced, so their clusters form a chain.
  const chains = [...happened].filter((write) => write.replaced === undefined).map(chainFrom);
  for (const chain of chains) {
    let latest = -1;
    for (const link of chain) {
      const early = link.find((one) => endOf(one) < latest);
      if (early !== undefined) {
        found.push(`${early.kind} of ${early.value}, answered at ${endOf(early)}, is out of date`);
      }
      latest = Math.max(latest, ...link.map(({ sent }) => sent));
    }
  }
  return [...found, ...disorderOf(chains.map((chain) => chain.flat()))];
}

/** Sorts the chains topologically. A chain comes first if no operation of another one was answered before one of its own was sent. */
function disorderOf(chains: Operation[][]): string[] {
  let left = chains.map((chain) => ({
    chain,
    firstAnswer: Math.min(...chain.map(endOf)),
    lastSent: Math.max(...chain.map(({ sent }) => sent)),
  }));
  while (left.length > 0) {
    const next = left.find((one) =>
      left.every((other) => other === one || other.firstAnswer >= one.lastSent),
    );
    if (next === undefined) {
      return [`these cannot be put in order: ${left.map(({ chain }) => chain[0]!.value).join(', ')}`];
    }
    left = left.filter((one) => one !== next);
  }
  return [];
}

/** The first write, the reads of its value, the write that replaced that value, and so on. */
function chainFrom(first: Write): Operation[][] {
  const chain: Operation[][] = [];
  for (let write: Write | undefined = first; write !== undefined; write = write.next[0]) {
    chain.push([write], write.reads);
  }
  return chain;
}

function endOf({ answered }: Operation): number {
  return answered ?? Infinity;
}

function inStock({ initial, final, adjustments, acknowledged, unknownOrders, orders }: Stock): string[] {
  const found: string[] = [];
  const placed = new Map<number, string>();
  for (const [request, ids] of Object.entries(acknowledged)) {
    if (new Set(ids).size > 1) found.push(`the request ${request} placed the orders ${ids.join()}`);
    const other = placed.get(ids[0]!);
    if (other !== undefined) found.push(`the requests ${other} and ${request} placed one order`);
    placed.set(ids[0]!, request);
  }
  const missing = [...placed.keys()].filter((id) => !orders.some((order) => order.id === id));
  if (missing.length > 0) found.push(`the orders ${missing.join()} are lost`);
  const more = orders.length - placed.size + missing.length;
  if (more > unknownOrders) {
    found.push(`${more} orders were not acknowledged, and ${unknownOrders} may have been placed`);
  }
  const open = orders.filter(({ isCancelled }) => !isCancelled);
  const known = adjustments.filter(({ isUnknown }) => !isUnknown);
  const sum =
    initial +
    known.reduce((total, { by }) => total + by, 0) -
    open.reduce((total, one) => total + one.quantity, 0);
  let possible = new Set([sum]);
  for (const { by } of adjustments.filter(({ isUnknown }) => isUnknown)) {
    possible = new Set([...possible].flatMap((one) => [one, one + by]));
  }
  if (final < 0 || !possible.has(final)) {
    found.push(`${final} units are left instead of ${[...possible].join(' or ')}`);
  }
  return found;
}
