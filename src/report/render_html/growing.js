// Loads the page again when the server has a later one.
(() => {
  const line = document.getElementById("growing");
  const ask = async () => {
    try {
      const answer = await fetch("state", { cache: "no-store" });
      if (answer.ok && (await answer.text()) !== line.dataset.state) {
        location.reload();
        return;
      }
    } catch {
      line.textContent = line.dataset.ended;
      return;
    }
    setTimeout(ask, 2000);
  };
  setTimeout(ask, 2000);
})();
