import { removeDriverVariables } from '../settings/environment';
import { listenToStopSignals } from '../runtime/stop-signals';

const signals = listenToStopSignals();
removeDriverVariables(process.env);
import('./command-line.js')
  .then(({ runCommandLine }) => runCommandLine(signals))
  .catch((error: unknown) => {
    process.stderr.write(`petstore: ${String(error)}\n`);
    process.exit(1);
  });
