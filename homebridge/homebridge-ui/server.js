import "../dist/page/server.js";
