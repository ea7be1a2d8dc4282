    // A tile's results wait in registers: they are stored while the next tile's first products are under way.
    constexpr int stores = parts * (BN / store_n);
    unsigned waiting[stores][words] = {};
    int waiting_x = 0, waiting_y = 0;
    const auto store_waiting = [&](int s) {
      const int i = s / (BN / store_n), c = s % (BN / store_n);
      store(waiting_x + i * 64, waiting_y + c * store_n, [&](int w) { return waiting[s][w]; });
    };
    bool wait = false;
