// Runs in the browser, after the page. Without it a bar shows what it says where it is pointed at.

// Each chart is one tab stop: a slider, of which the arrow keys choose a bar. A label at the bar
// says its value.
for (const svg of document.querySelectorAll('.plot svg')) {
  const bars = [...svg.querySelectorAll('g')];
  const values = bars.map((bar) => bar.querySelector('title').textContent);
  for (const bar of bars) bar.querySelector('title').remove();
  const label = document.createElement('div');
  label.className = 'reading';
  label.ariaHidden = 'true';
  svg.after(label);
  let current = bars.length - 1;

  function choose(index) {
    bars[current].classList.remove('chosen');
    current = Math.min(bars.length - 1, Math.max(0, index));
    bars[current].classList.add('chosen');
    label.textContent = values[current];
    // Beside the bar, but within the chart.
    const middle = ((current + 0.5) / bars.length) * svg.clientWidth;
    const half = label.offsetWidth / 2;
    label.style.left = `${Math.max(half, Math.min(svg.clientWidth - half, middle))}px`;
    svg.ariaValueNow = current + 1;
    svg.ariaValueText = values[current];
  }
  function close() {
    bars[current].classList.remove('chosen');
    label.textContent = '';
  }
  const steps = {
    ArrowLeft: -1,
    ArrowDown: -1,
    ArrowRight: 1,
    ArrowUp: 1,
    Home: -bars.length,
    End: bars.length,
  };

  svg.tabIndex = 0;
  svg.role = 'slider';
  svg.ariaValueMin = 1;
  svg.ariaValueMax = bars.length;
  choose(current);
  close();
  svg.addEventListener('focus', () => choose(current));
  svg.addEventListener('blur', close);
  svg.addEventListener('keydown', (event) => {
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    choose(current + step);
  });
  function point({ clientX }) {
    const { left, width } = svg.getBoundingClientRect();
    choose(Math.floor(((clientX - left) / width) * bars.length));
  }
  // A finger taps a bar or its marks, or is drawn along them: what it chose last stays.
  const strip = svg.closest('.chart').querySelector('.strip svg');
  for (const area of strip ? [svg, strip] : [svg]) {
    area.addEventListener('pointerdown', point);
    area.addEventListener('pointermove', point);
    area.addEventListener('pointerleave', ({ pointerType }) => {
      if (pointerType !== 'mouse') return;
      if (document.activeElement === svg) choose(current);
      else close();
    });
  }
}
