/** What `npm audit --json` prints, as far as it is looked at. */
interface Report {
  metadata?: { vulnerabilities?: Record<string, number> };
  vulnerabilities?: Record<string, { severity: string; range: string; fixAvailable?: unknown }>;
  statusCode?: number;
  message?: string;
}

export interface Verdict {
  /** 0: nothing serious is known. 1: something is. 2: nobody could be asked, so nothing is known. */
  exitCode: 0 | 1 | 2;
  lines: string[];
}

/** Those that stop a build; lesser ones are told of. */
const SERIOUS = ['high', 'critical'];

/** @param printed standard output of `npm audit --json`, which is a report, or tells of a failure */
export function verdictOf(printed: string): Verdict {
  const report = parse(printed);
  if (report?.vulnerabilities === undefined) {
    const reason =
      report?.message ?? (report?.statusCode ? `it answered ${report.statusCode}` : 'no report came');
    return {
      exitCode: 2,
      lines: [`The registry could not be asked for known vulnerabilities (${reason}). NOTHING WAS AUDITED.`],
    };
  }
  const found = Object.entries(report.vulnerabilities);
  const serious = found.filter(([, { severity }]) => SERIOUS.includes(severity));
  return {
    exitCode: serious.length > 0 ? 1 : 0,
    lines: [
      ...found.map(([name, { severity, range, fixAvailable }]) => {
        return `${severity}: ${name} ${range}${fixAvailable ? ', and there is a fix' : ''}`;
      }),
      `${found.length} packages with known vulnerabilities, ${serious.length} of them high or critical.`,
    ],
  };
}

function parse(text: string): Report | undefined {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return undefined;
  }
}
