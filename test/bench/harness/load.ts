import type { Workload } from '../workloads';

export interface Load {
  url: string;
  workload: Workload;
  headers: Record<string, string>;
  connections: number;
  seconds: number;
  /** A folder for files of the tool's own. */
  folder: string;
  signal: AbortSignal;
}

/** What a tool saw. Latencies in milliseconds. */
export interface LoadResult {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers that came within the time. */
  answers: number;
  complaints: string[];
}

export const TOOLS = ['wrk', 'autocannon'] as const;
export type ToolName = (typeof TOOLS)[number];

/** Sends requests over all connections, one after another on each, for so many seconds. */
export type LoadTool = (load: Load) => Promise<LoadResult>;

/** The tool's module is loaded only when it is used: autocannon is heavy. */
export async function loadTool(name: ToolName): Promise<LoadTool> {
  return name === 'wrk' ? (await import('./wrk.js')).wrk : (await import('./autocannon.js')).runAutocannon;
}
