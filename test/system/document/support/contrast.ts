/**
 * A function for the browser: of all elements that these selectors find, those whose text has less contrast to its ground
 * than 4.5 to 1, as WCAG 2 counts it (1.4.3).
 */
export const FAINT_ELEMENTS = `(selectors) => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [red, green, blue] = channels(colour).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const groundOf = (element) => {
    const colour = element ? getComputedStyle(element).backgroundColor : 'rgb(255, 255, 255)';
    const [, , , opacity = 1] = channels(colour);
    return opacity > 0.5 ? colour : groundOf(element.parentElement);
  };
  return [...document.querySelectorAll(selectors.join())].flatMap((element) => {
    const [text, ground] = [getComputedStyle(element).color, groundOf(element)];
    const [light, dark] = [luminance(text), luminance(ground)].sort((one, other) => other - one);
    const contrast = (light + 0.05) / (dark + 0.05);
    return contrast >= 4.5 ? [] : [element.className + ' ' + text + ' on ' + ground + ': ' + contrast];
  });
}`;
