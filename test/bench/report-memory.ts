import type { ClientsFigures } from './clients';
import type { Spread } from './harness/statistics';
import type { SoakFigures } from './soak';

const CLIENTS_GOAL_MB = 200;

export function describeClients(figures: ClientsFigures): string {
  const { clients, requests, requestsPerSecond, rssBytes, rssBytesInUse, heapBytesInUse } = figures;
  return (
    `${clients.toLocaleString('en')} clients, ${requests} requests each (${Math.round(requestsPerSecond).toLocaleString('en')}/s): ` +
    `the process grew by ${megabytes(rssBytes)} MB, and without its garbage by ${megabytes(rssBytesInUse)} MB (goal ${CLIENTS_GOAL_MB}); ` +
    `a client takes ${Math.round(heapBytesInUse / clients)} bytes.${describeComplaints(figures.complaints)}`
  );
}

export function describeSoak(figures: SoakFigures): string {
  const { minutes, requestsPerSecond, rssBytes, heapBytes, rssKibPerMinute, heapKibPerMinute } = figures;
  return (
    `${minutes} minutes of orders and reads at ${Math.round(requestsPerSecond).toLocaleString('en')}/s; in the second half ` +
    `memory ${spread(rssBytes)} MB, ${signed(rssKibPerMinute)} KiB/min; heap ${spread(heapBytes)} MB, ` +
    `${signed(heapKibPerMinute)} KiB/min.${describeComplaints(figures.complaints)}`
  );
}

function describeComplaints(complaints: string[]): string {
  return complaints.length === 0 ? '' : `\n  Not as it should be: ${complaints.join('; ')}`;
}

function spread({ median, min, max }: Spread): string {
  return `${megabytes(median)} (${megabytes(min)}–${megabytes(max)})`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(Math.round(value)).toLocaleString('en')}`;
}
