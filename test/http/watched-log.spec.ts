import { useService } from '../support/use-service';
import { WatchedLog } from '../support/watched-log';

const KEY = `psk_live_${'aB3'.repeat(12)}`;

describe('The log of a service under test', () => {
  const service = useService();

  it('fails the test when it contains an API key', async () => {
    const { key } = await service.issueKey();
    for (const line of [`refused ${KEY}`, `digested ${key.slice('psk_live_'.length)}`]) {
      const log = new WatchedLog();
      log.forbid(key);
      log.write(JSON.stringify({ msg: line }));
      expect(() => log.expectNoKeys()).toThrow(line);
    }
  });

  it('is checked as it is written: every line, at every level', async () => {
    const before = service.log.lines.length;
    await (await service.caller()).get('/categories');
    expect(service.log.lines.slice(before)).toContainEqual(
      expect.objectContaining({ operation: '/categories', status: 200 }),
    );
  });

  it('may contain identifiers and digests', () => {
    const log = new WatchedLog();
    log.forbid(KEY);
    log.write(`{"reqId":"${'x'.repeat(128)}","digest":"${'0123456789abcdef'.repeat(4)}"}`);
    expect(() => log.expectNoKeys()).not.toThrow();
  });
});
