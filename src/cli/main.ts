import { listenToStopSignals } from '../runtime/stop-signals';

const signals = listenToStopSignals();
void import('./command-line.js').then(({ runCommandLine }) => runCommandLine(signals));
